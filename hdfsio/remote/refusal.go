// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"
)

// Refusal is an error response of a Hadoop server.
type Refusal struct {
	Exception string // its Java class, with or without the package
	Message   string // first line of its message
}

// Refuse makes a Refusal of an exception and its message, which may contain a Java stack trace.
func Refuse(exception, message string) *Refusal {
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	return &Refusal{Exception: exception, Message: message}
}

func (r *Refusal) Error() string {
	switch name := r.name(); {
	case r.Message == "":
		return name
	case strings.Contains(r.Message, name):
		return r.Message
	default:
		return r.Message + " (" + name + ")"
	}
}

// name returns the exception without its package.
func (r *Refusal) name() string {
	return r.Exception[strings.LastIndexAny(r.Exception, ".$")+1:]
}

// meaning describes an exception: the error for errors.Is, advice, and
// whether a retry may succeed.
type meaning struct {
	is     error
	advice string
	later  bool
}

var meanings = map[string]meaning{
	"FileNotFoundException":               {is: fs.ErrNotExist, advice: "check the name with hdfs dfs -ls"},
	"AccessControlException":              {is: fs.ErrPermission, advice: "check the owner and the mode with hdfs dfs -ls -d, and the user (HADOOP_USER_NAME, kinit)"},
	"AuthorizationException":              {is: fs.ErrPermission, advice: "check the user (HADOOP_USER_NAME, kinit)"},
	"FileAlreadyExistsException":          {is: fs.ErrExist, advice: "remove it first, or choose another name"},
	"PathIsNotEmptyDirectoryException":    {is: syscall.ENOTEMPTY, advice: "remove its files first"},
	"ParentNotDirectoryException":         {is: syscall.ENOTDIR, advice: "a parent is a file: choose another name"},
	"InvalidPathException":                {is: fs.ErrInvalid, advice: "choose another name"},
	"DSQuotaExceededException":            {advice: quotaAdvice},
	"NSQuotaExceededException":            {advice: quotaAdvice},
	"QuotaByStorageTypeExceededException": {advice: quotaAdvice},
	"QuotaExceededException":              {advice: quotaAdvice},
	safeMode:                              {advice: "HDFS is in safe mode: wait, or run hdfs dfsadmin -safemode leave", later: true},
	"StandbyException":                    {advice: "all known name nodes are on standby: check them with hdfs haadmin -getAllServiceState", later: true},
	"RetriableException":                  {later: true},
	"ObserverRetryOnActiveException":      {later: true},
	"BlockMissingException":               {advice: deadAdvice, later: true},
	"CannotObtainBlockLengthException": {
		advice: "another client is writing the file, or died while writing: run hdfs debug recoverLease -path FILE", later: true,
	},
	"AlreadyBeingCreatedException": {later: true},
	"RecoveryInProgressException":  {later: true},
	"NotReplicatedYetException":    {later: true},
	"LeaseExpiredException":        {later: true},
	"UnknownHostException":         {advice: "check the host's name; a nameservice needs HADOOP_CONF_DIR"},
	"ConnectException":             {advice: deadAdvice, later: true},
	"SocketTimeoutException":       {advice: deadAdvice, later: true},
	"NoRouteToHostException":       {advice: deadAdvice, later: true},
	"InvalidToken":                 {is: fs.ErrPermission, advice: "the delegation token is expired or of another cluster: get a new one with hdfs fetchdt"},
}

const (
	safeMode    = "SafeModeException"
	quotaAdvice = "remove files there, or raise the quota (hdfs dfs -count -q DIR; hdfs dfsadmin -setSpaceQuota and -setQuota)"
	deadAdvice  = "a data node does not respond: check the live nodes with hdfs dfsadmin -report"
)

func (r *Refusal) meaning() meaning {
	if m, ok := meanings[r.name()]; ok {
		return m
	}
	// Errors without an exception of their own are recognised by their text.
	switch {
	case strings.Contains(r.Message, "could only be written to") || strings.Contains(r.Message, "could only be replicated to"):
		return meaning{advice: deadAdvice, later: true}
	case strings.Contains(r.Message, "Could not obtain block") || strings.Contains(r.Message, "Failed to find datanode"):
		return meaning{advice: deadAdvice, later: true}
	}
	return meaning{}
}

// Is implements errors.Is with the error for the exception.
func (r *Refusal) Is(target error) bool { return r.meaning().is == target }

// Transient reports whether a retry may succeed: connections break and
// servers are restarted, while a missing permission stays.
func Transient(err error) bool {
	if _, ok := errors.AsType[settled](err); ok {
		return false
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		return false
	}
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.meaning().later
	}
	for _, final := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, syscall.ENOTEMPTY, syscall.ENOTDIR, syscall.EISDIR, syscall.ENOSPC} {
		if errors.Is(err, final) {
			return false
		}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	if t, ok := errors.AsType[interface {
		error
		Transient() bool
	}](err); ok {
		return t.Transient()
	}
	_, broken := errors.AsType[net.Error](err)
	return broken || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNREFUSED)
}

// settled is an error that must not be retried, although it may be transient.
type settled struct{ error }

func (s settled) Unwrap() error { return s.error }

// adviceFor returns the remedy for an error.
func adviceFor(err error) string {
	if r, ok := errors.AsType[*Refusal](err); ok {
		if m := r.meaning(); m.advice != "" {
			return m.advice
		}
	}
	for _, p := range plain {
		if errors.Is(err, p.is) {
			return meanings[p.exception].advice
		}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return "check the host's name; a nameservice needs HADOOP_CONF_DIR"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "no process listens there: check that the server runs, and its port"
	}
	return ""
}

// plain maps errors of Go to exceptions with the same advice.
var plain = []struct {
	is        error
	exception string
}{
	{fs.ErrNotExist, "FileNotFoundException"},
	{fs.ErrPermission, "AccessControlException"},
	{fs.ErrExist, "FileAlreadyExistsException"},
	{fs.ErrInvalid, "InvalidPathException"},
	{syscall.ENOTDIR, "ParentNotDirectoryException"},
	{syscall.ENOTEMPTY, "PathIsNotEmptyDirectoryException"},
}
