// SPDX-License-Identifier: Apache-2.0

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/colinmarc/hdfs/v2"
	krb5 "github.com/jcmturner/gokrb5/v8/client"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/kerberos"
	"github.com/gvw-project/gvw/hdfsio/remote"
)

// Config has the addresses of the name nodes and the user.
type Config struct {
	// Nodes are the name nodes' RPC addresses, host:port. Required.
	Nodes []string
	// User is the user, on a cluster without authentication. Required without Kerberos.
	User string
	// Kerberos is the login; nil: the cluster has no authentication.
	Kerberos *kerberos.Login
	// Service is the name nodes' principal, dfs.namenode.kerberos.principal; its _HOST
	// is the name node's. Required with Kerberos.
	Service string
	// ByName connects to data nodes by their host names in the cluster
	// instead of by their addresses (dfs.client.use.datanode.hostname).
	ByName bool
	// Protection is dfs.data.transfer.protection: empty, authentication, integrity or
	// privacy. It needs Kerberos.
	Protection string
	// AES says that data nodes encrypt by AES (dfs.encrypt.data.transfer.cipher.suites). Without it, and with the
	// protection integrity, files cannot be read or written by this client.
	AES bool
	// Replication and BlockSize are those of new files; 0: the name node's default.
	Replication int
	BlockSize   int64
}

// Validate reports all missing or invalid fields.
func (c Config) Validate() error {
	var errs []error
	if len(c.Nodes) == 0 {
		errs = append(errs, errors.New("native: Nodes is empty"))
	}
	if c.User == "" && c.Kerberos == nil {
		errs = append(errs, errors.New("native: User and Kerberos are both empty"))
	}
	switch c.Protection {
	case "", "authentication", "integrity", "privacy":
	default:
		errs = append(errs, fmt.Errorf("native: Protection: got %q, want authentication, integrity or privacy", c.Protection))
	}
	if c.Protection != "" && c.Kerberos == nil {
		errs = append(errs, errors.New("native: Protection needs Kerberos"))
	}
	if c.Replication < 0 || c.BlockSize < 0 {
		errs = append(errs, errors.New("native: Replication and BlockSize must not be negative"))
	}
	if c.Kerberos != nil {
		errs = append(errs, c.Kerberos.Validate())
		if c.Service == "" {
			errs = append(errs, errors.New("native: Kerberos without Service"))
		}
	}
	return errors.Join(errs...)
}

// Client is a remote.Backend.
type Client struct {
	cfg Config

	mu     sync.Mutex
	client *hdfs.Client // nil: not connected
	login  *krb5.Client // of client; nil: without authentication
}

var _ remote.Backend = (*Client)(nil)

// New makes a client. It connects at the first call.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Client{cfg: cfg}, nil
}

func (c *Client) String() string { return "native" }

// Seeks returns true: a data node starts at any offset.
func (c *Client) Seeks() bool { return true }

// connect returns the library's client.
func (c *Client) connect() (*hdfs.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil {
		return c.client, nil
	}
	opts := hdfs.ClientOptions{
		Addresses:           c.cfg.Nodes,
		User:                c.cfg.User,
		UseDatanodeHostname: c.cfg.ByName,
		NamenodeDialFunc:    remote.Dial,
		DatanodeDialFunc:    remote.Dial,
	}
	if c.cfg.Kerberos != nil {
		login, err := c.cfg.Kerberos.Client()
		if err != nil {
			return nil, err
		}
		opts.KerberosClient, opts.DataTransferProtection = login, c.cfg.Protection
		opts.KerberosServicePrincipleName, _, _ = strings.Cut(c.cfg.Service, "@")
	}
	client, err := hdfs.NewClient(opts)
	if err != nil {
		if opts.KerberosClient != nil {
			opts.KerberosClient.Destroy()
			err = fmt.Errorf("as %v: %w", c.cfg.Kerberos, err)
		}
		return nil, err
	}
	c.client, c.login = client, opts.KerberosClient
	return client, nil
}

// with calls the library. A client whose connection has failed is replaced, because it would
// not try that name node again for some time.
func (c *Client) with(call func(*hdfs.Client) error) error {
	client, err := c.connect()
	if err == nil {
		err = call(client)
	}
	if err = explain(err); client != nil && errors.Is(err, fs.ErrPermission) && !is[*remote.Refusal](err) {
		err = fmt.Errorf("user %s: %w", client.User(), fs.ErrPermission) // the library returns no details
	}
	if client != nil && err != nil && remote.Transient(err) {
		c.leave(client)
	}
	return err
}

// leave closes a client after a failed connection.
func (c *Client) leave(client *hdfs.Client) {
	c.mu.Lock()
	mine := client != nil && c.client == client
	var login *krb5.Client
	if mine {
		login, c.client, c.login = c.login, nil, nil
	}
	c.mu.Unlock()
	if mine {
		_ = client.Close() // it has no pending operations
	}
	if login != nil {
		login.Destroy()
	}
}

// Close closes the connection to the name node. A later call would open a new one.
func (c *Client) Close() error {
	c.mu.Lock()
	client := c.client
	c.mu.Unlock()
	c.leave(client)
	return nil
}

// Stat describes a file or directory.
func (c *Client) Stat(name string) (info hdfsio.Info, err error) {
	err = c.with(func(client *hdfs.Client) error {
		fi, err := client.Stat(name)
		if err == nil {
			info = infoOf(path.Base(name), fi)
		}
		return err
	})
	return info, err
}

func infoOf(name string, fi fs.FileInfo) hdfsio.Info {
	return hdfsio.Info{Name: name, Size: fi.Size(), Modified: fi.ModTime(), Mode: fi.Mode()}
}

// ReadDir describes the files in a directory.
func (c *Client) ReadDir(name string) (infos []hdfsio.Info, err error) {
	err = c.with(func(client *hdfs.Client) error {
		// The library lists a file as a directory with one file, itself.
		fi, err := client.Stat(name)
		if err != nil {
			return err
		}
		if !fi.IsDir() {
			return &fs.PathError{Op: "list", Path: name, Err: syscall.ENOTDIR}
		}
		all, err := client.ReadDir(name)
		if err != nil {
			return err
		}
		infos = make([]hdfsio.Info, len(all))
		for i, fi := range all {
			infos[i] = infoOf(fi.Name(), fi)
		}
		return nil
	})
	return infos, err
}

// Mkdir makes a directory and its missing parents.
func (c *Client) Mkdir(name string) error {
	return c.with(func(client *hdfs.Client) error { return client.MkdirAll(name, 0o755) })
}

// Remove removes a file or an empty directory.
func (c *Client) Remove(name string) error {
	return c.with(func(client *hdfs.Client) error { return client.Remove(name) })
}

// Rename renames a file. The protocol has a rename that does not replace, but the library
// does not. So the name is checked first, and of two concurrent callers one may replace
// the other's file. Both files are complete.
func (c *Client) Rename(from, to string, replace bool) error {
	return c.with(func(client *hdfs.Client) error {
		if !replace {
			switch _, err := client.Stat(to); {
			case err == nil:
				return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
			case !errors.Is(err, fs.ErrNotExist):
				return err
			}
		}
		return client.Rename(from, to)
	})
}
