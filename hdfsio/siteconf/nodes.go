// SPDX-License-Identifier: Apache-2.0

package siteconf

import (
	"fmt"
	"net"
	"strings"
)

// Service is one of the services that a name node offers.
type Service struct {
	key  string // name of the property with the address
	port string // default port
	what string
}

// The services of a name node.
var (
	RPC   = Service{"rpc-address", "8020", "RPC"}
	HTTP  = Service{"http-address", "9870", "HTTP"}
	HTTPS = Service{"https-address", "9871", "HTTPS"}
)

// Default returns the part of fs.defaultFS after hdfs://, the authority of names
// without one.
func (c *Conf) Default() (authority string, err error) {
	value := c.Get("fs.defaultFS")
	if value == "" {
		value = c.Get("fs.default.name") // before Hadoop 2
	}
	switch authority, ok := strings.CutPrefix(value, "hdfs://"); {
	case value == "":
		return "", fmt.Errorf("the name has no host, and %s does not set fs.defaultFS: write hdfs://HOST:PORT/PATH, or set HADOOP_CONF_DIR", c.where())
	case !ok:
		return "", fmt.Errorf("the name has no host, and fs.defaultFS in %s is %s: write hdfs://HOST:PORT/PATH", c.where(), value)
	default:
		return strings.Trim(authority, "/"), nil
	}
}

func (c *Conf) where() string {
	if c == nil || c.Dir == "" {
		return "the environment (HADOOP_CONF_DIR is not set)"
	}
	return c.Dir
}

// NameNodes returns the addresses, host:port, of a service of the name nodes for an
// hdfs:// URL's authority: a nameservice, a host, or "" for the default.
// The preferred one comes first.
func (c *Conf) NameNodes(authority string, s Service) ([]string, error) {
	if authority == "" {
		var err error
		if authority, err = c.Default(); err != nil {
			return nil, err
		}
	}
	if ids := c.List("dfs.ha.namenodes." + authority); len(ids) > 0 {
		return c.ofService(authority, ids, s)
	}
	host, port := splitPort(authority)
	if s == RPC {
		if a := c.Get("dfs.namenode.rpc-address." + authority); a != "" {
			return []string{withPort(a, s.port)}, nil // a nameservice with one name node
		}
		if port == "" {
			port = s.port
		}
		return []string{net.JoinHostPort(host, port)}, nil
	}
	return []string{c.beside(authority, host, s)}, nil
}

// ofService returns the name nodes of a nameservice.
func (c *Conf) ofService(service string, ids []string, s Service) ([]string, error) {
	var all []string
	for _, id := range ids {
		suffix := service + "." + id
		a := c.Get("dfs.namenode." + s.key + "." + suffix)
		if a == "" && s != RPC {
			if rpc := c.Get("dfs.namenode.rpc-address." + suffix); rpc != "" {
				host, _ := splitPort(rpc)
				a = host
			}
		}
		if a == "" {
			return nil, fmt.Errorf("nameservice %s: %s does not set dfs.namenode.%s.%s", service, c.where(), s.key, suffix)
		}
		all = append(all, withPort(a, s.port))
	}
	return all, nil
}

// beside returns a web service of the name node whose RPC service is at host. It uses the
// address in the site files if they describe this name node, with host instead of a wildcard.
func (c *Conf) beside(authority, host string, s Service) string {
	a := c.Get("dfs.namenode." + s.key + "." + authority)
	if def, err := c.Default(); a == "" && err == nil && (def == authority || c.Get("dfs.namenode.rpc-address") == authority) {
		a = c.Get("dfs.namenode." + s.key)
	}
	if a == "" {
		return net.JoinHostPort(host, s.port)
	}
	h, port := splitPort(withPort(a, s.port))
	if h == "" || h == "0.0.0.0" || h == "::" {
		h = host
	}
	return net.JoinHostPort(h, port)
}

// splitPort splits host:port. An address without a port is a host.
func splitPort(address string) (host, port string) {
	if h, p, err := net.SplitHostPort(address); err == nil {
		return h, p
	}
	return strings.Trim(address, "[]"), ""
}

func withPort(address, port string) string {
	h, p := splitPort(address)
	if p == "" {
		p = port
	}
	return net.JoinHostPort(h, p)
}

// Kerberos reports whether the cluster requires authentication.
func (c *Conf) Kerberos() bool {
	return strings.EqualFold(c.Get("hadoop.security.authentication"), "kerberos")
}

// HTTPSOnly reports whether the web services only use TLS.
func (c *Conf) HTTPSOnly() bool { return strings.EqualFold(c.Get("dfs.http.policy"), "HTTPS_ONLY") }

// OffersHTTPS reports whether the web services also use TLS, or only.
func (c *Conf) OffersHTTPS() bool {
	return c.HTTPSOnly() || strings.EqualFold(c.Get("dfs.http.policy"), "HTTP_AND_HTTPS")
}

// Web returns the addresses of the web services for a webhdfs:// URL's authority:
// those of a nameservice's name nodes, or the authority itself.
func (c *Conf) Web(authority string, s Service) ([]string, error) {
	if authority == "" || len(c.List("dfs.ha.namenodes."+authority)) > 0 {
		return c.NameNodes(authority, s)
	}
	return []string{withPort(authority, s.port)}, nil
}
