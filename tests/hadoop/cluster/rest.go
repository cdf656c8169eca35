// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// answerWithin bounds an answer: the first one of a JVM on a busy machine is slow.
const answerWithin = time.Minute

// ask decodes a daemon's HTTP answer into to.
func ask(ctx context.Context, method, address string, to any) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("cluster: %s: %s: %s", address, resp.Status, text[:min(len(text), 500)])
	}
	if to == nil {
		return nil
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("cluster: %s: %w: %s", address, err, text[:min(len(text), 500)])
	}
	return nil
}

// await waits until ready returns true.
func (c *Cluster) await(ctx context.Context, what string, limit time.Duration, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		if dead := c.died(); dead != nil {
			return dead
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cluster: %s is not ready after %v: %w", what, limit, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

type beans[T any] struct {
	Beans []T `json:"beans"`
}

// awaitSecure waits for what can be seen without a login: the servers listen.
func (c *Cluster) awaitSecure(ctx context.Context) error {
	listens := func(port int) func(context.Context) error {
		return func(ctx context.Context) error {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.at("127.0.0.1", port))
			if err != nil {
				return err
			}
			return conn.Close()
		}
	}
	if err := c.await(ctx, "HDFS", startWithin, listens(nameRPC)); err != nil || c.cfg.Nodes == 0 {
		return err
	}
	if err := c.StartDaemon(JobHistoryServer); err != nil {
		return err
	}
	return c.await(ctx, "YARN", startWithin, listens(managerRPC))
}

func (c *Cluster) hdfsReady(ctx context.Context) error {
	var live beans[struct{ NumLiveDataNodes int }]
	var safe beans[struct{ Safemode string }]
	jmx := c.WebHDFS() + "/jmx?qry=Hadoop:service=NameNode,name="
	if err := errors.Join(ask(ctx, "GET", jmx+"FSNamesystemState", &live), ask(ctx, "GET", jmx+"NameNodeInfo", &safe)); err != nil {
		return err
	}
	if len(live.Beans) != 1 || live.Beans[0].NumLiveDataNodes < 1 || len(safe.Beans) != 1 || safe.Beans[0].Safemode != "" {
		return fmt.Errorf("live data nodes and safe mode: %v %v", live.Beans, safe.Beans)
	}
	return nil
}

func (c *Cluster) manager() string { return "http://" + c.at("127.0.0.1", managerHTTP) }

func (c *Cluster) yarnReady(ctx context.Context) error {
	n, err := c.ActiveNodes(ctx)
	if err == nil && n < c.cfg.Nodes {
		err = fmt.Errorf("%d of %d nodes are there", n, c.cfg.Nodes)
	}
	return err
}

// ActiveNodes returns the number of NodeManagers that the ResourceManager counts as active.
func (c *Cluster) ActiveNodes(ctx context.Context) (int, error) {
	var m struct {
		ClusterMetrics struct {
			ActiveNodes int `json:"activeNodes"`
		} `json:"clusterMetrics"`
	}
	err := ask(ctx, "GET", c.manager()+"/ws/v1/cluster/metrics", &m)
	return m.ClusterMetrics.ActiveNodes, err
}

func (c *Cluster) history() string { return "http://" + c.at("127.0.0.1", historyHTTP) }

func (c *Cluster) historyReady(ctx context.Context) error {
	return ask(ctx, "GET", c.history()+"/ws/v1/history/info", nil)
}

func (c *Cluster) webhdfs(path, op string) string {
	u := url.URL{Path: path}
	return c.WebHDFS() + "/webhdfs/v1" + u.EscapedPath() + "?user.name=" + url.QueryEscape(c.cfg.User) + "&op=" + op
}

func (c *Cluster) mkdir(ctx context.Context, dir string) error {
	return ask(ctx, "PUT", c.webhdfs(dir, "MKDIRS&permission=1777"), nil)
}

// Remove removes a file or folder of HDFS.
func (c *Cluster) Remove(ctx context.Context, name string) error {
	return ask(ctx, "DELETE", c.webhdfs(name, "DELETE&recursive=true"), nil)
}

// Put writes a file of HDFS.
func (c *Cluster) Put(ctx context.Context, name string, content []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, c.webhdfs(name, "CREATE&overwrite=true"), bytes.NewReader(content))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req) // the NameNode redirects it to a DataNode
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 500)) // the status is enough without it
		return fmt.Errorf("cluster: cannot write %s: %s: %s", name, resp.Status, text)
	}
	return nil
}

// Get reads a file of HDFS.
func (c *Cluster) Get(ctx context.Context, name string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.webhdfs(name, "OPEN"), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("cluster: cannot read %s: %s: %s", name, resp.Status, text[:min(len(text), 500)])
	}
	return text, err
}

// List lists the names in a folder of HDFS.
func (c *Cluster) List(ctx context.Context, dir string) (names []string, err error) {
	var a struct {
		FileStatuses struct {
			FileStatus []struct {
				PathSuffix string `json:"pathSuffix"`
			}
		}
	}
	if err := ask(ctx, "GET", c.webhdfs(dir, "LISTSTATUS"), &a); err != nil {
		return nil, err
	}
	for _, s := range a.FileStatuses.FileStatus {
		names = append(names, s.PathSuffix)
	}
	return names, nil
}
