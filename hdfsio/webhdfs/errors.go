// SPDX-License-Identifier: Apache-2.0

package webhdfs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"

	"github.com/gvw-project/gvw/hdfsio/remote"
)

// silent takes the token out of an error, which holds the URL.
func (c *Client) silent(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		if u, perr := url.Parse(e.URL); perr == nil {
			u.RawQuery, u.Path, u.RawPath = "", "", ""
			e.URL = u.String()
		}
	}
	return err
}

// refusal is what an answer says is wrong.
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
		return &loginError{"it asks for Kerberos (HTTP status 401), and WebHDFS of gvw has no ticket: a delegation token stands for it (hdfs fetchdt FILE, HADOOP_TOKEN_FILE_LOCATION=FILE)"}
	case http.StatusNotFound:
		return fmt.Errorf("HTTP status %s: is this a name node's HTTP port, and is dfs.webhdfs.enabled true?", res.Status)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return remote.Refuse("RetriableException", "HTTP status "+res.Status)
	}
	return fmt.Errorf("HTTP status %s", res.Status)
}

// loginError is for a server that does not know who calls.
type loginError struct{ text string }

func (e *loginError) Error() string        { return e.text }
func (e *loginError) Is(target error) bool { return target == fs.ErrPermission }
