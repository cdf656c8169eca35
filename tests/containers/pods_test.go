// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// examples returns a file of the ranks' data.
func examples() []byte {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "%d | a%d b%d c\n", 2*(i%2)-1, i%2, i%7)
	}
	return []byte(b.String())
}

// podIP returns the address of the pod n of the test.
func podIP(n int) string { return fmt.Sprintf("10.244.0.%d", n+1) }

// pods are what the tests of running pods share.
type pods struct {
	*machine
	all    resources
	secret *core.Secret
	data   string // directory of the claim gvw-data
}

func newPods(t *testing.T) *pods {
	all := build(t)
	p := &pods{machine: newMachine(t, podIP(0), podIP(1), podIP(2), podIP(3), podIP(4)), all: all, secret: all["Secret gvw"].(*core.Secret)}
	p.data = p.volume(all.templates()["Job gvw-train"], map[string][]byte{"train.vw": examples()}, 0o640)
	return p
}

// rank starts a pod of a job's ranks.
func (p *pods) rank(pod core.PodTemplateSpec, in instance) *container {
	files := map[string][]byte{}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil {
			for _, item := range v.Secret.Items {
				files[item.Path] = p.secret.Data[item.Key]
			}
		}
	}
	in.volumes = map[string]string{"data": p.data, "secret": p.volume(pod, files, 0o400), "temporary": p.volume(pod, nil, 0)}
	return p.start(pod, in)
}

// model checks the model that rank 0 has written.
func (p *pods) model() {
	p.t.Helper()
	predictions := filepath.Join(p.t.TempDir(), "p")
	cmd := exec.Command(filepath.Join(programs, "gvw"), "-t", "-i", filepath.Join(p.data, "model"), "-d", filepath.Join(p.data, "train.vw"), "-p", predictions, "--quiet")
	if text, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, text)
	}
	text, err := os.ReadFile(predictions)
	if err != nil {
		p.t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "-") != (i%2 == 0) {
			p.t.Fatalf("prediction %d is %s", i, line)
		}
	}
}

// TestJob runs the server, probes it and reads its metrics as the manifests say, and trains with the
// pods of the indexed job.
func TestJob(t *testing.T) {
	if !inNamespaces(t) {
		return
	}
	p := newPods(t)
	server := p.all.templates()["Deployment spanning-tree"]
	p.hosts = podIP(0) + "\tspanning-tree\n" // of the Service
	running := p.start(server, instance{host: "spanning-tree-5d8c-x2x", ip: podIP(0), volumes: map[string]string{
		"state": p.volume(server, nil, 0), "secret": p.volume(server, p.secret.Data, 0o400),
	}})
	spec := server.Spec.Containers[0]
	port := func(name string) string {
		for _, at := range spec.Ports {
			if at.Name == name {
				return net.JoinHostPort(podIP(0), fmt.Sprint(at.ContainerPort))
			}
		}
		t.Fatalf("no port %s", name)
		return ""
	}
	listens(t, port("control"))
	for name, probe := range map[string]*core.Probe{"startup": spec.StartupProbe, "readiness": spec.ReadinessProbe, "liveness": spec.LivenessProbe} {
		if code, text := get(t, "http://"+port(probe.HTTPGet.Port.StrVal)+probe.HTTPGet.Path, ""); code != 200 {
			t.Errorf("the %s probe: %d %s\n%s", name, code, text, &running.log)
		}
	}
	metrics := "http://" + port("page") + "/metrics"
	if code, text := get(t, metrics, string(p.secret.Data["page.token"])); code != 200 || !strings.Contains(text, "gvw_server_info") {
		t.Errorf("metrics: %d %s", code, text)
	}
	if code, _ := get(t, metrics, ""); code != 401 {
		t.Errorf("metrics without the token: %d", code)
	}
	job := p.all["Job gvw-train"].(*batch.Job)
	var ranks []*container
	for i := range int(*job.Spec.Completions) {
		ranks = append(ranks, p.rank(job.Spec.Template, instance{
			host: fmt.Sprintf("%s-%d", job.Name, i), ip: podIP(i + 1), env: []string{fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i)},
			labels: map[string]string{"batch.kubernetes.io/controller-uid": "4f6c1b0e-7f0d-4b39-8f0e-2f9c2c1c4d11"},
		}))
	}
	succeed(t, ranks)
	p.model()
}

// TestJobSet trains with the pods of the JobSet, whose rank 0 has the server.
func TestJobSet(t *testing.T) {
	if !inNamespaces(t) {
		return
	}
	p := newPods(t)
	set := p.all["JobSet gvw-train"].(*jobset.JobSet)
	replicated := set.Spec.ReplicatedJobs[0]
	host := func(job, index int) string { return fmt.Sprintf("%s-%s-%d-%d", set.Name, replicated.Name, job, index) }
	var ranks []*container
	size := int(*replicated.Template.Spec.Completions)
	for n := range int(replicated.Replicas) * size {
		name := host(n/size, n%size)
		p.hosts += fmt.Sprintf("%s\t%s.%s.default.svc.cluster.local\n", podIP(n), name, set.Name)
	}
	for n := range int(replicated.Replicas) * size {
		name := host(n/size, n%size)
		ranks = append(ranks, p.rank(replicated.Template.Spec.Template, instance{
			host: name, ip: podIP(n), fqdn: name + "." + set.Name + ".default.svc.cluster.local",
			env: []string{fmt.Sprintf("JOB_COMPLETION_INDEX=%d", n%size)},
			labels: map[string]string{
				jobset.JobSetUIDKey: "d3b5d0a2-0a51-4c55-9a3f-4e2f0d2b7a10", jobset.JobSetNameKey: set.Name, jobset.JobIndexKey: fmt.Sprint(n / size),
				jobset.ReplicatedJobReplicas: fmt.Sprint(replicated.Replicas), "jobset.sigs.k8s.io/restart-attempt": "0",
			},
		}))
	}
	succeed(t, ranks)
	p.model()
}

// get sends a request with a token, unless that is empty, and returns the status and the body.
func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}
