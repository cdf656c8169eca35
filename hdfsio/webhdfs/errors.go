// SPDX-License-Identifier: Apache-2.0

package webhdfs

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/gvw-project/gvw/hdfsio/remote"
)

// silent removes the token from an error, which contains the URL.
func (c *Client) silent(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		if u, perr := url.Parse(e.URL); perr == nil {
			u.RawQuery, u.Path, u.RawPath = "", "", ""
			e.URL = u.String()
		} else {
			e.URL = withoutQuery(e.URL)
		}
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return &certificateError{err}
	}
	return err
}

// withoutQuery returns a URL, which need not be valid, up to its query, which contains the token.
func withoutQuery(u string) string {
	u, _, _ = strings.Cut(u, "?")
	return u
}

// transport is an http.Transport whose errors do not have the token of a redirect. It fails if it
// gets a redirect to an invalid URL, because the error of http.Client would have this URL.
type transport struct{ *http.Transport }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.Transport.RoundTrip(req)
	if err != nil {
		if strings.Contains(err.Error(), "delegation=") { // net/http quotes headers that it cannot parse
			err = errors.New("the response has a malformed header")
		}
		return nil, err
	}
	if to := res.Header.Get("Location"); to != "" {
		if _, err := req.URL.Parse(to); err != nil {
			_ = res.Body.Close() // the error is more specific
			return nil, &redirectError{withoutQuery(to)}
		}
	}
	return res, nil
}

// redirectError reports a redirect that cannot be followed. A retry would get the same one.
type redirectError struct{ to string } // without the query

func (e *redirectError) Error() string {
	return fmt.Sprintf("got a redirect to %q, want a URL of a data node", e.to)
}
func (e *redirectError) Transient() bool { return false }

// addressError reports the address of the only name node, which is invalid. A retry would get the same one.
type addressError struct{ error }

func (e *addressError) Error() string {
	return e.error.Error() + ": check the address of the name node, in hdfs-site.xml or in the URL"
}
func (e *addressError) Unwrap() error   { return e.error }
func (e *addressError) Transient() bool { return false }

// certificateError reports a server whose certificate is not accepted. A retry would get the same one.
type certificateError struct{ error }

func (e *certificateError) Error() string {
	return e.error.Error() + ": trust the cluster's authority by SSL_CERT_FILE=FILE (PEM), and use the server's name in the certificate"
}
func (e *certificateError) Unwrap() error   { return e.error }
func (e *certificateError) Transient() bool { return false }

// refusal returns the error of a response.
func refusal(res *http.Response) error {
	var e struct {
		RemoteException struct {
			Exception     string `json:"exception"`
			JavaClassName string `json:"javaClassName"`
			Message       string `json:"message"`
		}
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if err == nil && json.Unmarshal(b, &e) == nil && e.RemoteException.Exception != "" {
		return remote.Refuse(e.RemoteException.Exception, e.RemoteException.Message)
	}
	switch res.StatusCode {
	case http.StatusUnauthorized:
		return &loginError{"it requires a login (HTTP status 401): use a ticket of Kerberos (kinit, and hadoop.security.authentication in core-site.xml), or a delegation token (hdfs fetchdt FILE, HADOOP_TOKEN_FILE_LOCATION=FILE)"}
	case http.StatusNotFound:
		return fmt.Errorf("HTTP status %s: check that this is a name node's HTTP port, and that dfs.webhdfs.enabled is true", res.Status)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return remote.Refuse("RetriableException", "HTTP status "+res.Status)
	}
	return fmt.Errorf("HTTP status %s", res.Status)
}

// loginError reports a server that does not accept the user's identity.
type loginError struct{ text string }

func (e *loginError) Error() string        { return e.text }
func (e *loginError) Is(target error) bool { return target == fs.ErrPermission }
