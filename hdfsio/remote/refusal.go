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

// Refusal is what a server of Hadoop's said instead of doing something.
type Refusal struct {
	Exception string // Java's name of it, with or without the package
	Message   string // its first line
}

// Refuse makes a Refusal of an exception and its message, which may hold Java's stack.
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

// meaning is what an exception stands for: an error that callers know, advice, and
// whether another try may do better.
type meaning struct {
	is     error
	advice string
	later  bool
}

var meanings = map[string]meaning{
	"FileNotFoundException":               {is: fs.ErrNotExist, advice: "check the name: hdfs dfs -ls shows what is there"},
	"AccessControlException":              {is: fs.ErrPermission, advice: "check the owner and the mode by hdfs dfs -ls -d, and who calls (HADOOP_USER_NAME, kinit)"},
	"AuthorizationException":              {is: fs.ErrPermission, advice: "check who calls (HADOOP_USER_NAME, kinit)"},
	"FileAlreadyExistsException":          {is: fs.ErrExist, advice: "remove it first, or choose another name"},
	"PathIsNotEmptyDirectoryException":    {is: syscall.ENOTEMPTY, advice: "remove what is in it first"},
	"ParentNotDirectoryException":         {is: syscall.ENOTDIR, advice: "one of its folders is a file: choose another name"},
	"InvalidPathException":                {is: fs.ErrInvalid, advice: "choose another name"},
	"DSQuotaExceededException":            {advice: quotaAdvice},
	"NSQuotaExceededException":            {advice: quotaAdvice},
	"QuotaByStorageTypeExceededException": {advice: quotaAdvice},
	"QuotaExceededException":              {advice: quotaAdvice},
	safeMode:                              {advice: "HDFS cannot be changed now: wait, or hdfs dfsadmin -safemode leave", later: true},
	"StandbyException":                    {advice: "all name nodes that are known are on standby: hdfs haadmin -getAllServiceState shows them", later: true},
	"RetriableException":                  {later: true},
	"ObserverRetryOnActiveException":      {later: true},
	"BlockMissingException":               {advice: deadAdvice, later: true},
	"CannotObtainBlockLengthException": {
		advice: "somebody is still writing the file, or died at it: hdfs debug recoverLease -path FILE ends that", later: true,
	},
	"AlreadyBeingCreatedException": {later: true},
	"RecoveryInProgressException":  {later: true},
	"NotReplicatedYetException":    {later: true},
	"LeaseExpiredException":        {later: true},
	"UnknownHostException":         {advice: "check the host's name; a nameservice is known by HADOOP_CONF_DIR alone"},
	"ConnectException":             {advice: deadAdvice, later: true},
	"SocketTimeoutException":       {advice: deadAdvice, later: true},
	"NoRouteToHostException":       {advice: deadAdvice, later: true},
	"InvalidToken":                 {is: fs.ErrPermission, advice: "the delegation token is expired or of another cluster: get a new one by hdfs fetchdt"},
}

const (
	safeMode    = "SafeModeException"
	quotaAdvice = "remove something there, or raise the quota: hdfs dfs -count -q DIR shows it, hdfs dfsadmin -setSpaceQuota and -setQuota change it"
	deadAdvice  = "a data node does not answer: hdfs dfsadmin -report shows who is alive"
)

func (r *Refusal) meaning() meaning {
	if m, ok := meanings[r.name()]; ok {
		return m
	}
	// What has no exception of its own, by its words.
	switch {
	case strings.Contains(r.Message, "could only be written to") || strings.Contains(r.Message, "could only be replicated to"):
		return meaning{advice: deadAdvice, later: true}
	case strings.Contains(r.Message, "Could not obtain block") || strings.Contains(r.Message, "Failed to find datanode"):
		return meaning{advice: deadAdvice, later: true}
	}
	return meaning{}
}

// Is makes errors.Is know what an exception stands for.
func (r *Refusal) Is(target error) bool { return r.meaning().is == target }

// Transient reports whether another try may do better: connections break and
// servers are restarted, while a permission stays.
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

// settled is an error that is not to be followed by another try, though it may pass.
type settled struct{ error }

func (s settled) Unwrap() error { return s.error }

// adviceFor returns what to do about an error.
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
		return "check the host's name; a nameservice is known by HADOOP_CONF_DIR alone"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "nobody listens there: is the server up, and is this its port?"
	}
	return ""
}

// plain are errors of Go's that get the advice of an exception.
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
