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

// Clients are the ways to hdfs:// names, and auto, which takes the first that works.
var Clients = []string{"auto", "native", "webhdfs", "pipe"}

// Config is what is known of clusters and of who calls.
type Config struct {
	// Client is one of Clients; empty: auto.
	Client string
	// Conf is what the site files say; nil: nothing.
	Conf *siteconf.Conf
	// User is who calls, on a cluster that asks for no proof. Required.
	User string
	// TokenFile has delegation tokens (HADOOP_TOKEN_FILE_LOCATION); empty: none.
	TokenFile string
	// KerberosConf is krb5.conf, TicketCache what kinit has made; either may be missing.
	KerberosConf, TicketCache string
	// Keytab has the keys of Principal, NAME@REALM; empty: the ticket cache counts.
	Keytab, Principal string
	// Command is Hadoop's own client, like hdfs dfs; empty: there is none.
	Command []string
	// Env is its environment; nil: this process's.
	Env []string

	// Host and Pid are this machine and process, which names of files under way tell.
	Host string
	Pid  int
	// Patience, Spool and Perm are those of remote.Config.
	Patience time.Duration
	Spool    string
	Perm     fs.FileMode
	// Log hears which way was taken, and what is tried again; nil: nobody does.
	Log *slog.Logger
}

// Validate reports what is missing or contradicts.
func (c Config) Validate() error {
	var errs []error
	if c.Client != "" && !slices.Contains(Clients, c.Client) {
		errs = append(errs, fmt.Errorf("%q is no way to HDFS: give %s", c.Client, strings.Join(Clients, ", ")))
	}
	if c.User == "" {
		errs = append(errs, errors.New("hdfs: User is empty: who calls?"))
	}
	if c.Keytab != "" && c.Principal == "" {
		errs = append(errs, errors.New("hdfs: a keytab without a principal: whose keys are to be used?"))
	}
	if c.Principal != "" && c.Keytab == "" {
		errs = append(errs, errors.New("hdfs: a principal without a keytab would be ignored"))
	}
	return errors.Join(errs...)
}
