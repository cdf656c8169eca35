// SPDX-License-Identifier: Apache-2.0

package hdfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/hdfsio/kerberos"
	"github.com/gvw-project/gvw/hdfsio/native"
	"github.com/gvw-project/gvw/hdfsio/pipe"
	"github.com/gvw-project/gvw/hdfsio/remote"
	"github.com/gvw-project/gvw/hdfsio/siteconf"
	"github.com/gvw-project/gvw/hdfsio/token"
	"github.com/gvw-project/gvw/hdfsio/webhdfs"
)

// protection is the property for the protection of data on its way to and from data nodes.
const protection = "dfs.data.transfer.protection"

// native returns the client for HDFS's own protocols.
func (c Config) native(authority string) (remote.Backend, string, error) {
	nodes, err := c.Conf.NameNodes(authority, siteconf.RPC)
	if err != nil {
		return nil, "", err
	}
	n := native.Config{
		Nodes:  nodes,
		User:   c.User,
		ByName: c.Conf.Is("dfs.client.use.datanode.hostname"),
	}
	if n.Replication, err = c.number("dfs.replication"); err != nil {
		return nil, "", err
	}
	as := c.User
	if c.Conf.Kerberos() {
		if n.Kerberos, as, err = c.kerberos(); err != nil {
			if c.TokenFile != "" {
				err = fmt.Errorf("%w; it cannot use a delegation token", err)
			}
			return nil, "", err
		}
		if n.Service = c.Conf.Get("dfs.namenode.kerberos.principal"); n.Service == "" {
			return nil, "", fmt.Errorf("the cluster needs Kerberos, but %s does not set dfs.namenode.kerberos.principal", c.Conf.Dir)
		}
		n.Protection = c.Conf.Get(protection)
		n.AES = strings.Contains(c.Conf.Get("dfs.encrypt.data.transfer.cipher.suites"), "AES/CTR/NoPadding")
	}
	b, err := native.New(n)
	if err != nil {
		return nil, "", err
	}
	return b, as, nil
}

func (c Config) number(property string) (int, error) {
	value := c.Conf.Get(property)
	if value == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(value, 10, 15)
	if err != nil {
		return 0, fmt.Errorf("%s in %[3]s: got %[2]q, want a number", property, value, c.Conf.Dir)
	}
	return int(n), nil
}

// kerberos returns the login and its name, or an error that names what is missing.
func (c Config) kerberos() (*kerberos.Login, string, error) {
	k := &kerberos.Login{Conf: c.KerberosConf, Cache: c.TicketCache, Keytab: c.Keytab, Principal: c.Principal}
	switch {
	case k.Keytab != "":
	case k.Cache == "" || missing(k.Cache):
		return nil, "", errors.New("the cluster needs Kerberos, but there is no ticket (kinit; KRB5CCNAME) and no keytab (hdfs.Config.Keytab)")
	}
	if missing(k.Conf) {
		return nil, "", fmt.Errorf("the cluster needs Kerberos, but %s does not exist (KRB5_CONFIG)", k.Conf)
	}
	return k, k.String(), nil
}

func missing(file string) bool {
	_, err := os.Stat(file)
	return errors.Is(err, fs.ErrNotExist)
}

// webhdfs returns the HTTP client for an hdfs:// name.
func (c Config) webhdfs(authority string) (remote.Backend, string, error) {
	service := siteconf.HTTP
	p := c.Conf.Get(protection)
	protected := c.Client != "webhdfs" && (p == "integrity" || p == "privacy")
	switch {
	case c.Conf.HTTPSOnly() || protected && c.Conf.OffersHTTPS():
		service = siteconf.HTTPS
	case protected:
		return nil, "", fmt.Errorf("%s is %s, but WebHDFS would send data without protection: set dfs.http.policy to HTTPS_ONLY or HTTP_AND_HTTPS, or hdfs.Config.Client to webhdfs", protection, p)
	}
	nodes, err := c.Conf.NameNodes(authority, service)
	if err != nil {
		return nil, "", err
	}
	return c.web(authority, nodes, service == siteconf.HTTPS)
}

func (c Config) plainWeb(authority string) (remote.Backend, string, error) {
	nodes, err := c.Conf.Web(authority, siteconf.HTTP)
	if err != nil {
		return nil, "", err
	}
	return c.web(authority, nodes, false)
}

func (c Config) secureWeb(authority string) (remote.Backend, string, error) {
	nodes, err := c.Conf.Web(authority, siteconf.HTTPS)
	if err != nil {
		return nil, "", err
	}
	return c.web(authority, nodes, true)
}

func (c Config) web(authority string, nodes []string, tls bool) (remote.Backend, string, error) {
	w := webhdfs.Config{Nodes: nodes, TLS: tls, User: c.User}
	as := c.User
	encoded, err := c.token(authority, nodes)
	if err == nil {
		w.Token, as = encoded, "whom the token is of, or "+c.User+" if nobody asks"
	}
	switch {
	case !c.Conf.Kerberos():
	case err == nil:
		w.User, as = "", "whom the token is of"
	default:
		login, who, lerr := c.kerberos()
		if lerr != nil {
			return nil, "", fmt.Errorf("%w, and no delegation token: %w", lerr, err)
		}
		w.User, w.Kerberos, as = "", login, who
	}
	b, err := webhdfs.New(w)
	if err != nil {
		return nil, "", err
	}
	return b, as, nil
}

// token returns the delegation token for a cluster, or the reason why there is none.
func (c Config) token(authority string, nodes []string) (string, error) {
	if c.TokenFile == "" {
		return "", errors.New("there is none: set HADOOP_TOKEN_FILE_LOCATION (hdfs fetchdt FILE gets one)")
	}
	b, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", err
	}
	tokens, err := token.Parse(b)
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.TokenFile, err)
	}
	services := append([]string{authority}, nodes...)
	if rpc, err := c.Conf.NameNodes(authority, siteconf.RPC); err == nil {
		services = append(services, rpc...)
	}
	t, err := token.For(tokens, services...)
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.TokenFile, err)
	}
	return t.Encode(), nil
}

// pipe returns the client that runs Hadoop's own.
func (c Config) pipe(authority string) (remote.Backend, string, error) {
	if len(c.Command) == 0 {
		return nil, "", errors.New("neither hdfs nor hadoop is in PATH or in HADOOP_HOME/bin")
	}
	p := pipe.Config{Command: c.Command, Env: c.Env}
	if authority != "" {
		p.Prefix = "hdfs://" + authority
	}
	b, err := pipe.New(p)
	if err != nil {
		return nil, "", err
	}
	return b, "whom it takes for the user", nil
}
