// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/remote"
)

// Config describes a server.
type Config struct {
	// Base begins all URLs: http://HOST or https://HOST, and for protocols above HTTP the first
	// elements of the path. Required.
	Base string
	// Sign adds a login to each request; nil: there is none. Signed requests follow no redirect.
	Sign func(*http.Request) error
	// Check returns the error of a response, nil for one that this package interprets; nil: it
	// interprets all.
	Check func(*http.Response) error
}

// Client reads files of one server.
type Client struct {
	remote.ReadOnly
	cfg  Config
	http *http.Client
}

var (
	_ remote.Backend   = (*Client)(nil)
	_ remote.Versioned = (*Client)(nil)
	_ remote.Adviser   = (*Client)(nil)
)

// New returns a client for a server. It makes no request.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.Base)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "":
		return nil, fmt.Errorf("web.Config.Base: got %q, want http://HOST or https://HOST", cfg.Base)
	case u.User != nil:
		return nil, errors.New("a name with a password would appear in logs: use a URL that is signed for a short time")
	}
	c := &Client{cfg: cfg, http: &http.Client{Transport: remote.Transport()}}
	if cfg.Sign != nil { // a signature holds for one host
		c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

func (c *Client) String() string { return "http" }

// Seeks reports true: most servers have ranges.
func (c *Client) Seeks() bool { return true }

// ReadDir returns an error: servers list no files.
func (c *Client) ReadDir(string) ([]hdfsio.Info, error) {
	return nil, fmt.Errorf("web servers do not list files: %w", errors.ErrUnsupported)
}

// Advice returns the remedy for an error.
func (c *Client) Advice(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "check the URL; patterns do not work here, since web servers do not list files"
	case errors.Is(err, fs.ErrPermission):
		return "the server wants a login: use a signed URL"
	case errors.Is(err, errors.ErrUnsupported):
		return "fetch or write it as a file on this machine"
	}
	return ""
}

// Stat describes a file.
func (c *Client) Stat(path string) (hdfsio.Info, error) {
	resp, err := c.one(http.MethodHead, path, nil)
	if err != nil {
		return hdfsio.Info{}, err
	}
	_ = resp.Body.Close() // it has no bytes
	if resp.StatusCode == http.StatusOK && resp.ContentLength >= 0 {
		return describe(path, resp, resp.ContentLength), nil
	}
	// A URL may be signed for GET only, and a server may not know the length without a range.
	switch resp.StatusCode {
	case http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
	default:
		return hdfsio.Info{}, refusal(resp)
	}
	if resp, err = c.one(http.MethodGet, path, http.Header{"Range": {"bytes=0-0"}}); err != nil {
		return hdfsio.Info{}, err
	}
	defer resp.Body.Close()
	size := resp.ContentLength
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable: // the latter: an empty file
		if _, size, err = contentRange(resp); err != nil {
			return hdfsio.Info{}, err
		}
	default:
		return hdfsio.Info{}, refusal(resp)
	}
	if size < 0 {
		return hdfsio.Info{}, fmt.Errorf("the server does not state its length: %w", errors.ErrUnsupported)
	}
	return describe(path, resp, size), nil
}

func describe(path string, resp *http.Response, size int64) hdfsio.Info {
	info := hdfsio.Info{Name: path, Size: size, Tag: resp.Header.Get("ETag")}
	if t, err := http.ParseTime(resp.Header.Get("Last-Modified")); err == nil {
		info.Modified = t
	}
	return info
}

// Open reads a file from offset on.
func (c *Client) Open(path string, offset int64) (io.ReadCloser, error) {
	return c.OpenVersion(path, offset, hdfsio.Info{Size: -1})
}

// OpenVersion is Open for the contents that info describes. A negative size is any.
func (c *Client) OpenVersion(path string, offset int64, info hdfsio.Info) (io.ReadCloser, error) {
	header := http.Header{}
	if offset > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	if info.Tag != "" && !strings.HasPrefix(info.Tag, "W/") { // a weak tag never matches here
		header.Set("If-Match", info.Tag)
	}
	resp, err := c.one(http.MethodGet, path, header)
	if err != nil {
		return nil, err
	}
	r, err := body(resp, offset, info)
	if err != nil {
		_ = resp.Body.Close() // the error is more specific
		return nil, err
	}
	return r, nil
}

// body returns the body of a response from offset on, if it is that of the file.
func body(resp *http.Response, offset int64, info hdfsio.Info) (io.ReadCloser, error) {
	from, size := int64(0), resp.ContentLength
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusPartialContent:
		var err error
		if from, size, err = contentRange(resp); err != nil {
			return nil, err
		}
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
		return nil, remote.ErrChanged
	default:
		return nil, refusal(resp)
	}
	tag := resp.Header.Get("ETag")
	if size >= 0 && info.Size >= 0 && size != info.Size || tag != "" && info.Tag != "" && tag != info.Tag {
		return nil, remote.ErrChanged
	}
	if from > offset || from < offset && resp.StatusCode == http.StatusPartialContent {
		return nil, fmt.Errorf("the server sent the bytes from %d on, want those from %d on", from, offset)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, offset-from); err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// contentRange returns the first byte of the range that a response has, and the length of the
// file; -1: unknown.
func contentRange(resp *http.Response) (from, size int64, err error) {
	text := resp.Header.Get("Content-Range")
	value, ok := strings.CutPrefix(text, "bytes ")
	part, length, cut := strings.Cut(value, "/")
	first, _, _ := strings.Cut(part, "-")
	if first == "*" {
		first = "0"
	}
	from, ferr := strconv.ParseInt(first, 10, 64)
	if length == "*" {
		length = "-1"
	}
	size, serr := strconv.ParseInt(length, 10, 64)
	if !ok || !cut || cmp.Or(ferr, serr) != nil {
		return 0, 0, fmt.Errorf("the server sent Content-Range %q, want bytes FIRST-LAST/LENGTH", text)
	}
	return from, size, nil
}

// Get makes a request for what is not a file, such as a listing. Its body must be closed.
func (c *Client) Get(path string) (*http.Response, error) {
	resp, err := c.one(http.MethodGet, path, nil)
	if err == nil && resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // the error is more specific
		return nil, refusal(resp)
	}
	return resp, err
}

// one makes one request.
func (c *Client) one(method, path string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequest(method, c.cfg.Base+path, nil)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	if c.cfg.Sign != nil {
		if err := c.cfg.Sign(req); err != nil {
			return nil, err
		}
	}
	resp, err := c.http.Do(req)
	if uerr, ok := errors.AsType[*url.Error](err); ok {
		return nil, uerr.Err // the name is in the caller's message
	}
	if err == nil && c.cfg.Check != nil {
		if err := c.cfg.Check(resp); err != nil {
			_ = resp.Body.Close() // the error is more specific
			return nil, err
		}
	}
	return resp, err
}

// StatusError is a response that is an error.
type StatusError struct {
	Code   int
	Status string // such as 503 Service Unavailable
}

func (e *StatusError) Error() string { return "the server responded " + e.Status }

// Transient reports whether a retry may succeed.
func (e *StatusError) Transient() bool {
	return e.Code >= 500 && e.Code != http.StatusNotImplemented || e.Code == http.StatusRequestTimeout || e.Code == http.StatusTooManyRequests
}

// Is implements errors.Is with the error for the status code.
func (e *StatusError) Is(target error) bool {
	switch e.Code {
	case http.StatusNotFound, http.StatusGone:
		return target == fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return target == fs.ErrPermission
	}
	return false
}

func refusal(resp *http.Response) error {
	return &StatusError{Code: resp.StatusCode, Status: resp.Status}
}
