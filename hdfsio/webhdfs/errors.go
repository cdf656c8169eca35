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

	"github.com/gvw-project/gvw/hdfsio/remote"
)

// silent removes the token from an error, which contains the URL.
func (c *Client) silent(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		if u, perr := url.Parse(e.URL); perr == nil {
			u.RawQuery, u.Path, u.RawPath = "", "", ""
			e.URL = u.String()
		}
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return &certificateError{err}
	}
	return err
}

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
