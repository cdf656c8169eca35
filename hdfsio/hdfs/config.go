// SPDX-License-Identifier: Apache-2.0

package hdfs

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/hdfsio/siteconf"
)

// Clients are the clients for hdfs:// names, and auto, which takes the first that works.
var Clients = []string{"auto", "native", "webhdfs", "pipe"}

// Config describes clusters and the user.
type Config struct {
	// Client is one of Clients; empty: auto.
	Client string
	// Conf has the site files; nil: none.
	Conf *siteconf.Conf
	// User is the user, on a cluster without authentication. Required.
	User string
	// TokenFile has delegation tokens (HADOOP_TOKEN_FILE_LOCATION); empty: none.
	TokenFile string
	// KerberosConf is krb5.conf, TicketCache the output of kinit; either may be missing.
	KerberosConf, TicketCache string
	// Keytab has the keys of Principal, NAME@REALM; empty: use the ticket cache.
	Keytab, Principal string
	// Command is Hadoop's own client, such as hdfs dfs; empty: none.
	Command []string
	// Env is its environment; nil: this process's.
	Env []string

	// Host and Pid are this machine and process, for the names of temporary files.
	Host string
	Pid  int
	// Patience, Spool and Perm are those of remote.Config.
	Patience time.Duration
	Spool    string
	Perm     fs.FileMode
	// Log receives the choice of client, and retries; nil: discard them.
	Log *slog.Logger
}

// Validate reports all missing or contradictory fields.
func (c Config) Validate() error {
	var errs []error
	if c.Client != "" && !slices.Contains(Clients, c.Client) {
		errs = append(errs, fmt.Errorf("%q is not a client for HDFS: use one of %s", c.Client, strings.Join(Clients, ", ")))
	}
	if c.User == "" {
		errs = append(errs, errors.New("hdfs: User is empty"))
	}
	if c.Keytab != "" && c.Principal == "" {
		errs = append(errs, errors.New("hdfs: a keytab needs a principal"))
	}
	if c.Principal != "" && c.Keytab == "" {
		errs = append(errs, errors.New("hdfs: a principal needs a keytab"))
	}
	return errors.Join(errs...)
}
