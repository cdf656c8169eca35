// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"
)

// Config describes a cluster. Each field's comment gives the meaning of its zero value.
type Config struct {
	// Dir holds the state: configuration, data of HDFS, logs, pids. Required; absolute.
	Dir string
	// Jars is the folder that Fetch has made. Required.
	Jars string
	// Java is the home of a JDK 17. Required.
	Java string
	// Port is the first of a block of 100; 0: the first block from 18000 on that is free.
	Port int
	// Nodes is the number of NodeManagers, at most 6; 0: only HDFS.
	Nodes int
	// NodeMB is the memory of each NodeManager in MB; 0: 768. With the defaults of MasterMB and
	// MapMB, two nodes run four maps at once.
	NodeMB int
	// MasterMB is the memory of an ApplicationMaster in MB; 0: 384.
	MasterMB int
	// MapMB is the memory of a map's container in MB unless a job sets it; 0: 256.
	MapMB int
	// KillDelay is the time between SIGTERM and SIGKILL of a container; 0: YARN's 250 ms.
	KillDelay time.Duration
	// NodeExpiry is the silence after which a NodeManager is lost; 0: 10 s.
	NodeExpiry time.Duration
	// User owns all files; empty: root. A cluster with Kerberos does not ask who owns them.
	User string
	// Kerberos is how daemons and clients log in; nil: without authentication.
	Kerberos *Kerberos
}

// Kerberos has the logins of the daemons. Calls and blocks are encrypted; WebHDFS is offered with TLS and without.
type Kerberos struct {
	Conf   string // krb5.conf
	Realm  string
	Keytab string // with nn/localhost, dn/localhost and HTTP/localhost; for YARN also rm, nm and jhs
}

const (
	blockOfPorts = 100
	firstPort    = 18000
	lastPort     = 19900
	maxNodes     = 6
)

// Ports of the daemons, counted from Config.Port.
const (
	nameRPC = iota
	nameHTTP
	dataTransfer
	dataHTTP
	dataIPC
	managerRPC
	managerScheduler
	managerTracker
	managerAdmin
	managerHTTP
	historyRPC
	historyHTTP
	historyAdmin
	nameHTTPS
	dataHTTPS
	registryZK
	nodePorts  = 20 // ten ports of each NodeManager from here on
	sparePorts = nodePorts + 10*maxNodes
)

func (c Config) withDefaults() Config {
	or := func(v *int, otherwise int) {
		if *v == 0 {
			*v = otherwise
		}
	}
	or(&c.NodeMB, 768)
	or(&c.MasterMB, 384)
	or(&c.MapMB, 256)
	if c.KillDelay == 0 {
		c.KillDelay = 250 * time.Millisecond
	}
	if c.NodeExpiry == 0 {
		c.NodeExpiry = 10 * time.Second
	}
	if c.User == "" {
		c.User = "root"
	}
	return c
}

// Validate reports all faults of c.
func (c Config) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("cluster: "+format, args...)) }
	for _, d := range []struct{ name, value string }{{"Dir", c.Dir}, {"Jars", c.Jars}, {"Java", c.Java}} {
		if !filepath.IsAbs(d.value) {
			fault("%s: got %q, want an absolute path", d.name, d.value)
		}
	}
	if c.Nodes < 0 || c.Nodes > maxNodes {
		fault("Nodes: got %d, want 0 to %d", c.Nodes, maxNodes)
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"NodeMB", c.NodeMB}, {"MasterMB", c.MasterMB}, {"MapMB", c.MapMB}, {"Port", c.Port}} {
		if n.value < 0 {
			fault("%s: got %d, want 0 or more", n.name, n.value)
		}
	}
	return errors.Join(errs...)
}

// reserve finds a free block of ports and keeps its last port open, so that another cluster
// that starts at the same time takes another block.
func reserve() (base int, hold net.Listener, err error) {
	for base := firstPort; base <= lastPort; base += blockOfPorts {
		hold, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", base+blockOfPorts-1))
		if err != nil {
			continue
		}
		if blockFree(base) {
			return base, hold, nil
		}
		hold.Close()
	}
	return 0, nil, fmt.Errorf("cluster: no block of %d free ports from %d to %d", blockOfPorts, firstPort, lastPort+blockOfPorts-1)
}

func blockFree(base int) bool {
	for port := base; port < base+blockOfPorts-1; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}
