// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// classPath returns the class path of daemons, clients and containers: the configuration, the
// web resources that hadoop-hdfs looks for there, and all jars.
func (c *Cluster) classPath(sep string) string {
	return c.conf() + sep + filepath.Join(c.cfg.Jars, "web") + sep + filepath.Join(c.cfg.Jars, "lib") + "/*"
}

func (c *Cluster) conf() string { return filepath.Join(c.cfg.Dir, "conf") }

func (c *Cluster) at(host string, port int) string {
	return host + ":" + strconv.Itoa(c.cfg.Port+port)
}

// sites returns the configuration files by name.
func (c *Cluster) sites() map[string]map[string]string {
	const local, loop = "localhost", "127.0.0.1"
	dir := c.cfg.Dir
	mb := strconv.Itoa
	quick := "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
	return map[string]map[string]string{
		"core-site.xml": {
			"fs.defaultFS":                      "hdfs://" + c.at(local, nameRPC),
			"hadoop.tmp.dir":                    filepath.Join(dir, "tmp"),
			"hadoop.http.staticuser.user":       c.cfg.User,
			"ipc.client.connect.max.retries":    "50",
			"ipc.client.connect.retry.interval": "200",
			"hadoop.registry.zk.quorum":         c.at(loop, registryZK),
		},
		"hdfs-site.xml": {
			"dfs.replication":                                           "1",
			"dfs.namenode.name.dir":                                     "file://" + filepath.Join(dir, "dfs/name"),
			"dfs.datanode.data.dir":                                     "file://" + filepath.Join(dir, "dfs/data"),
			"dfs.namenode.rpc-bind-host":                                loop,
			"dfs.namenode.http-address":                                 c.at(loop, nameHTTP),
			"dfs.datanode.address":                                      c.at(loop, dataTransfer),
			"dfs.datanode.http.address":                                 c.at(loop, dataHTTP),
			"dfs.datanode.ipc.address":                                  c.at(loop, dataIPC),
			"dfs.datanode.hostname":                                     local, // the name of the NodeManagers, so that maps are local
			"dfs.namenode.datanode.registration.ip-hostname-check":      "false",
			"dfs.namenode.safemode.extension":                           "0",
			"dfs.heartbeat.interval":                                    "1",
			"dfs.namenode.fs-limits.min-block-size":                     "1024", // small files of many blocks
			"dfs.namenode.resource.du.reserved":                         "0",
			"dfs.datanode.du.reserved":                                  "0",
			"dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
			"dfs.namenode.edits.noeditlogchannelflush":                  "true", // no fsync per change
			"dfs.webhdfs.enabled":                                       "true",
		},
		"yarn-site.xml": {
			"yarn.resourcemanager.hostname":                           local,
			"yarn.resourcemanager.address":                            c.at(local, managerRPC),
			"yarn.resourcemanager.scheduler.address":                  c.at(local, managerScheduler),
			"yarn.resourcemanager.resource-tracker.address":           c.at(local, managerTracker),
			"yarn.resourcemanager.admin.address":                      c.at(local, managerAdmin),
			"yarn.resourcemanager.webapp.address":                     c.at(loop, managerHTTP),
			"yarn.resourcemanager.am.max-attempts":                    "2",
			"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "200",
			"yarn.nm.liveness-monitor.expiry-interval-ms":             strconv.FormatInt(c.cfg.NodeExpiry.Milliseconds(), 10),
			// After the loss of a node, YARN stops its containers before replacements start;
			// the default gives up after 180 s.
			"yarn.client.nodemanager-connect.max-wait-ms":       "5000",
			"yarn.client.nodemanager-connect.retry-interval-ms": "1000",
			"yarn.nodemanager.hostname":                         local,
			"yarn.nodemanager.resource.memory-mb":               mb(c.cfg.NodeMB),
			"yarn.nodemanager.resource.cpu-vcores":              "16",
			"yarn.scheduler.minimum-allocation-mb":              "64",
			"yarn.scheduler.maximum-allocation-mb":              mb(c.cfg.NodeMB),
			"yarn.scheduler.maximum-allocation-vcores":          "16",
			"yarn.nodemanager.aux-services":                     "mapreduce_shuffle", // every job requires it, even without reducers
			"yarn.nodemanager.vmem-check-enabled":               "false",
			"yarn.nodemanager.pmem-check-enabled":               "false",
			// A nearly full disk would make the node unhealthy, and jobs would wait without a
			// limit.
			"yarn.nodemanager.disk-health-checker.disk-utilization-threshold.enabled": "false",
			"yarn.nodemanager.disk-health-checker.disk-free-space-threshold.enabled":  "false",
			"yarn.nodemanager.sleep-delay-before-sigkill.ms":                          strconv.FormatInt(c.cfg.KillDelay.Milliseconds(), 10),
			"yarn.nodemanager.delete.debug-delay-sec":                                 "1800", // tests read the logs of ended containers
			"yarn.log-aggregation-enable":                                             "false",
			"yarn.nodemanager.env-whitelist":                                          "JAVA_HOME,HADOOP_CONF_DIR,PATH,LANG,TZ",
			"yarn.nodemanager.container-localizer.java.opts.add-exports-as-default":   "true",
			"yarn.application.classpath":                                              c.classPath(","),
			// Without a scheme the path would be in HDFS, which may not run yet.
			"yarn.node-attribute.fs-store.root-dir": "file://" + filepath.Join(dir, "tmp/node-attribute"),
			"yarn.timeline-service.enabled":         "false",
			// The ResourceManager accepts services (yarn app -launch).
			"yarn.webapp.api-service.enable": "true",
			"yarn.service.classpath":         c.classPath(","), // of their ApplicationMasters
		},
		"mapred-site.xml": {
			"mapreduce.framework.name":                              "yarn",
			"mapreduce.application.classpath":                       c.classPath(","),
			"mapreduce.jvm.add-opens-as-default":                    "true", // Java 17
			"yarn.app.mapreduce.am.resource.mb":                     mb(c.cfg.MasterMB),
			"yarn.app.mapreduce.am.command-opts":                    "-Xmx256m " + quick,
			"mapreduce.map.memory.mb":                               mb(c.cfg.MapMB),
			"mapreduce.map.java.opts":                               "-Xmx100m " + quick,
			"mapreduce.client.submit.file.replication":              "1",
			"mapreduce.client.progressmonitor.pollinterval":         "300",
			"mapreduce.client.completion.pollinterval":              "300",
			"yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": "200",
			"yarn.app.mapreduce.am.staging-dir":                     "/tmp/hadoop-yarn/staging",
			"mapreduce.jobhistory.address":                          c.at(local, historyRPC),
			"mapreduce.jobhistory.webapp.address":                   c.at(loop, historyHTTP),
			"mapreduce.jobhistory.admin.address":                    c.at(loop, historyAdmin),
			"mapreduce.jobhistory.move.interval-ms":                 "2000",
		},
		"capacity-scheduler.xml": { // no jar has this file, and without it there is no queue
			"yarn.scheduler.capacity.root.queues":                                      "default",
			"yarn.scheduler.capacity.root.default.capacity":                            "100",
			"yarn.scheduler.capacity.root.default.state":                               "RUNNING",
			"yarn.scheduler.capacity.root.default.acl_submit_applications":             "*",
			"yarn.scheduler.capacity.root.default.acl_administer_queue":                "*",
			"yarn.scheduler.capacity.maximum-am-resource-percent":                      "1.0", // with the default no ApplicationMaster starts here
			"yarn.scheduler.capacity.resource-calculator":                              "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator",
			"yarn.scheduler.capacity.node-locality-delay":                              "0",
			"yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments": "100",
		},
	}
}

// secure returns what a cluster with Kerberos has besides, by file.
func (c *Cluster) secure() map[string]map[string]string {
	k := c.cfg.Kerberos
	if k == nil {
		return nil
	}
	as := func(name string) string { return name + "/localhost@" + k.Realm }
	return map[string]map[string]string{
		"core-site.xml": {
			"hadoop.security.authentication": "kerberos",
			"hadoop.security.authorization":  "true",
			"hadoop.rpc.protection":          "privacy",
			// Since Hadoop 3.3 WebHDFS has the filter of all web pages.
			"hadoop.http.filter.initializers":                  "org.apache.hadoop.security.AuthenticationFilterInitializer",
			"hadoop.http.authentication.type":                  "kerberos",
			"hadoop.http.authentication.kerberos.principal":    as("HTTP"),
			"hadoop.http.authentication.kerberos.keytab":       k.Keytab,
			"hadoop.http.authentication.signature.secret.file": filepath.Join(c.conf(), "secret"),
		},
		"hdfs-site.xml": {
			"dfs.namenode.kerberos.principal":           as("nn"),
			"dfs.namenode.keytab.file":                  k.Keytab,
			"dfs.datanode.kerberos.principal":           as("dn"),
			"dfs.datanode.keytab.file":                  k.Keytab,
			"dfs.web.authentication.kerberos.principal": as("HTTP"),
			"dfs.web.authentication.kerberos.keytab":    k.Keytab,
			"dfs.namenode.http-address":                 c.at("localhost", nameHTTP), // the name of the principal
			"dfs.block.access.token.enable":             "true",
			"dfs.data.transfer.protection":              "privacy",
			"dfs.encrypt.data.transfer.cipher.suites":   "AES/CTR/NoPadding",
			"dfs.permissions.enabled":                   "false",
			"ignore.secure.ports.for.testing":           "true", // else a DataNode needs only TLS, or a port below 1024
			"dfs.http.policy":                           "HTTP_AND_HTTPS",
			"dfs.namenode.https-address":                c.at("localhost", nameHTTPS),
			"dfs.datanode.https.address":                c.at("127.0.0.1", dataHTTPS),
		},
		"yarn-site.xml": {
			"yarn.resourcemanager.principal": as("rm"),
			"yarn.resourcemanager.keytab":    k.Keytab,
			"yarn.nodemanager.principal":     as("nm"),
			"yarn.nodemanager.keytab":        k.Keytab,
		},
		"mapred-site.xml": {
			"mapreduce.jobhistory.principal": as("jhs"),
			"mapreduce.jobhistory.keytab":    k.Keytab,
			// The defaults are below /tmp, which other users could then not enter.
			"mapreduce.jobhistory.done-dir":              "/history-done",
			"mapreduce.jobhistory.intermediate-done-dir": "/history-intermediate",
			"yarn.app.mapreduce.am.admin-command-opts":   "-Djava.security.krb5.conf=" + k.Conf,
			"mapreduce.admin.map.child.java.opts":        "-Djava.security.krb5.conf=" + k.Conf,
		},
		"ssl-server.xml": {
			"ssl.server.keystore.location":    c.keystore(),
			"ssl.server.keystore.type":        "pkcs12",
			"ssl.server.keystore.password":    storePassword,
			"ssl.server.keystore.keypassword": storePassword,
		},
	}
}

const log4j = `log4j.rootLogger=${hadoop.root.logger}
hadoop.root.logger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
`

// zooKeeper returns the configuration of the registry of services.
func (c *Cluster) zooKeeper() string {
	return fmt.Sprintf("dataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n",
		filepath.Join(c.cfg.Dir, "zookeeper"), c.cfg.Port+registryZK)
}

// writeConf writes the configuration.
func (c *Cluster) writeConf() error {
	if err := os.MkdirAll(c.conf(), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.conf(), "secret"), []byte("of this test"), 0o600); err != nil {
		return err
	}
	all := c.sites()
	for name, site := range c.secure() {
		if all[name] == nil {
			all[name] = map[string]string{}
		}
		maps.Copy(all[name], site)
	}
	for name, site := range all {
		if err := os.WriteFile(filepath.Join(c.conf(), name), siteXML(site), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(c.conf(), "zoo.cfg"), []byte(c.zooKeeper()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.conf(), "log4j.properties"), []byte(log4j), 0o644)
}

func siteXML(site map[string]string) []byte {
	var names []string
	for name := range site {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	for _, name := range names {
		fmt.Fprintf(&b, "<property><name>%s</name><value>", name)
		_ = xml.EscapeText(&b, []byte(site[name])) // cannot fail: the buffer is in memory
		b.WriteString("</value></property>\n")
	}
	b.WriteString("</configuration>\n")
	return b.Bytes()
}
