// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// folders are the folders that kubectl apply -k takes.
var folders = []string{"base", "server", "job", "jobset", "monitoring"}

// resources are the decoded resources of all folders, by kind and name.
type resources map[string]any

// prototypes are empty resources of the kinds that the manifests may have.
var prototypes = map[string]func() any{
	"v1 Secret":                           func() any { return &core.Secret{} },
	"v1 Service":                          func() any { return &core.Service{} },
	"v1 ServiceAccount":                   func() any { return &core.ServiceAccount{} },
	"v1 PersistentVolumeClaim":            func() any { return &core.PersistentVolumeClaim{} },
	"apps/v1 Deployment":                  func() any { return &apps.Deployment{} },
	"batch/v1 Job":                        func() any { return &batch.Job{} },
	"networking.k8s.io/v1 NetworkPolicy":  func() any { return &networking.NetworkPolicy{} },
	"jobset.x-k8s.io/v1alpha2 JobSet":     func() any { return &jobset.JobSet{} },
	"monitoring.coreos.com/v1 PodMonitor": func() any { return &monitoring.PodMonitor{} },
}

// keys finds the command that makes the secrets.
var keys = regexp.MustCompile(`(?m)^    (\(cd base .*gvw keygen.*\))$`)

// build makes the secrets by the command of the README, builds all folders and decodes what they have.
func build(t *testing.T) resources {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(manifests)); err != nil {
		t.Fatal(err)
	}
	all := resources{}
	builder := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
	disk := filesys.MakeFsOnDisk()
	if _, err := builder.Run(disk, filepath.Join(dir, "base")); err == nil {
		t.Error("the folder builds without its secrets")
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	command := keys.FindSubmatch(readme)
	if command == nil {
		t.Fatalf("the README has no command %v", keys)
	}
	cmd := exec.Command("sh", "-c", string(command[1]))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command[1], err, text)
	}
	for _, folder := range folders {
		built, err := builder.Run(disk, filepath.Join(dir, folder))
		if err != nil {
			t.Fatalf("kustomize build %s: %v", folder, err)
		}
		for _, r := range built.Resources() {
			text, err := r.AsYAML()
			if err != nil {
				t.Fatal(err)
			}
			prototype := prototypes[r.GetApiVersion()+" "+r.GetKind()]
			if prototype == nil {
				t.Fatalf("%s: no type of the kind %s %s", folder, r.GetApiVersion(), r.GetKind())
			}
			decoded := prototype()
			if err := yaml.UnmarshalStrict(text, decoded); err != nil {
				t.Errorf("%s: %s %s: %v", folder, r.GetKind(), r.GetName(), err)
			}
			all[r.GetKind()+" "+r.GetName()] = decoded
		}
	}
	return all
}

// templates returns the templates of all pods.
func (r resources) templates() map[string]core.PodTemplateSpec {
	out := map[string]core.PodTemplateSpec{}
	for name, resource := range r {
		switch resource := resource.(type) {
		case *apps.Deployment:
			out[name] = resource.Spec.Template
		case *batch.Job:
			out[name] = resource.Spec.Template
		case *jobset.JobSet:
			for _, job := range resource.Spec.ReplicatedJobs {
				out[name+" "+job.Name] = job.Template.Spec.Template
			}
		}
	}
	return out
}

// TestManifests builds and decodes all manifests. No file of the folders is left out.
func TestManifests(t *testing.T) {
	t.Parallel()
	all := build(t)
	for _, name := range []string{
		"Deployment spanning-tree", "Service spanning-tree", "NetworkPolicy spanning-tree", "NetworkPolicy gvw-ranks", "Secret gvw",
		"ServiceAccount gvw", "PersistentVolumeClaim spanning-tree", "Job gvw-train", "JobSet gvw-train", "PodMonitor spanning-tree",
	} {
		if all[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	if len(all) != 10 || len(all.templates()) != 3 {
		t.Errorf("%d resources with %d templates of pods", len(all), len(all.templates()))
	}
	listed := map[string]bool{}
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(manifests, folder, "kustomization.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for word := range strings.FieldsSeq(string(text)) {
			listed[filepath.Join(folder, word)] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(manifests, "*", "*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		name, err := filepath.Rel(manifests, file)
		if err != nil || filepath.Base(name) != "kustomization.yaml" && !listed[name] {
			t.Errorf("no kustomization lists %s (%v)", name, err)
		}
	}
}

// TestPodsAreRestricted evaluates the pods as the admission of a namespace with the restricted level
// does, and requires what that level leaves open.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for name, pod := range build(t).templates() {
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
		if !result.Allowed {
			t.Errorf("%s: %s: %s", name, result.ForbiddenReason(), result.ForbiddenDetail())
		}
		spec := pod.Spec
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken || spec.ServiceAccountName == "" {
			t.Errorf("%s: the pod has a token", name)
		}
		if spec.EnableServiceLinks == nil || *spec.EnableServiceLinks {
			t.Errorf("%s: the pod has variables of all services", name)
		}
		for _, c := range spec.Containers {
			if s := c.SecurityContext; s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
				t.Errorf("%s: %s can write to its root", name, c.Name)
			}
			r := c.Resources
			if r.Requests.Cpu().IsZero() || r.Requests.Memory().IsZero() || r.Limits.Memory().Cmp(*r.Requests.Memory()) < 0 {
				t.Errorf("%s: %s requests %v, limits %v", name, c.Name, r.Requests, r.Limits)
			}
			if !strings.Contains(c.Image, "/gvw:v") {
				t.Errorf("%s: image %s has no version", name, c.Image)
			}
		}
	}
}

// TestRanksLeaveLostNodes requires that ranks are evicted from a lost node long before the others give
// up. Without tolerations of its own a pod gets some of 300 s.
func TestRanksLeaveLostNodes(t *testing.T) {
	t.Parallel()
	const limit = 60 // seconds; --replace_timeout is 600
	pods := build(t).templates()
	for _, name := range []string{"Job gvw-train", "JobSet gvw-train ranks"} {
		for _, key := range []string{core.TaintNodeUnreachable, core.TaintNodeNotReady} {
			taint := core.Taint{Key: key, Effect: core.TaintEffectNoExecute}
			found := false
			for _, tolerated := range pods[name].Spec.Tolerations {
				if !tolerated.ToleratesTaint(&taint) {
					continue
				}
				found = true
				if s := tolerated.TolerationSeconds; s == nil || *s > limit {
					t.Errorf("%s: %s is tolerated by %v, want at most %d s", name, key, tolerated, limit)
				}
			}
			if !found {
				t.Errorf("%s: no toleration of %s, so the pods get one of 300 s", name, key)
			}
		}
	}
}

// TestReferences follows the names by which the resources refer to each other.
func TestReferences(t *testing.T) {
	t.Parallel()
	all := build(t)
	secret := all["Secret gvw"].(*core.Secret)
	pods := all.templates()
	server, job, set := pods["Deployment spanning-tree"], pods["Job gvw-train"], pods["JobSet gvw-train ranks"]
	for name, pod := range pods {
		if all["ServiceAccount "+pod.Spec.ServiceAccountName] == nil {
			t.Errorf("%s: no account %s", name, pod.Spec.ServiceAccountName)
		}
		volumes := map[string]bool{}
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = true
			if s := v.Secret; s != nil {
				if s.SecretName != secret.Name || *s.DefaultMode != 0o400 {
					t.Errorf("%s: secret %+v", name, s)
				}
				for _, item := range s.Items {
					if secret.Data[item.Key] == nil {
						t.Errorf("%s: the secret has no %s", name, item.Key)
					}
				}
			}
			// The claim gvw-data is the user's.
			if c := v.PersistentVolumeClaim; c != nil && c.ClaimName != "gvw-data" && all["PersistentVolumeClaim "+c.ClaimName] == nil {
				t.Errorf("%s: no claim %s", name, c.ClaimName)
			}
		}
		for _, c := range pod.Spec.Containers {
			for _, m := range c.VolumeMounts {
				if !volumes[m.Name] {
					t.Errorf("%s: no volume %s", name, m.Name)
				}
			}
		}
	}
	selects := func(s meta.LabelSelector, pod core.PodTemplateSpec) bool {
		selector, err := meta.LabelSelectorAsSelector(&s)
		if err != nil {
			t.Fatal(err)
		}
		return selector.Matches(labels.Set(pod.Labels))
	}
	ports := func(name string) bool {
		return slices.ContainsFunc(server.Spec.Containers[0].Ports, func(p core.ContainerPort) bool { return p.Name == name })
	}
	service := all["Service spanning-tree"].(*core.Service)
	monitor := all["PodMonitor spanning-tree"].(*monitoring.PodMonitor)
	guard, ranks := all["NetworkPolicy spanning-tree"].(*networking.NetworkPolicy), all["NetworkPolicy gvw-ranks"].(*networking.NetworkPolicy)
	for name, got := range map[string][3]bool{
		"the deployment":       {selects(*all["Deployment spanning-tree"].(*apps.Deployment).Spec.Selector, server)},
		"the service":          {selects(meta.LabelSelector{MatchLabels: service.Spec.Selector}, server), selects(meta.LabelSelector{MatchLabels: service.Spec.Selector}, job)},
		"the monitor":          {selects(monitor.Spec.Selector, server), selects(monitor.Spec.Selector, job)},
		"the server's policy":  {selects(guard.Spec.PodSelector, server), selects(guard.Spec.PodSelector, job)},
		"its clients":          {selects(*guard.Spec.Ingress[0].From[0].PodSelector, job), selects(*guard.Spec.Ingress[0].From[0].PodSelector, server)},
		"the ranks' policy":    {selects(ranks.Spec.PodSelector, job) && selects(ranks.Spec.PodSelector, set), selects(ranks.Spec.PodSelector, server)},
		"the ranks' neighbors": {selects(*ranks.Spec.Ingress[0].From[0].PodSelector, set) && selects(*ranks.Spec.Egress[0].To[0].PodSelector, job)},
		"the ranks' server":    {selects(*ranks.Spec.Egress[1].To[0].PodSelector, server), selects(*ranks.Spec.Egress[1].To[0].PodSelector, job)},
	} {
		if want := [3]bool{true}; got != want {
			t.Errorf("%s: selects its pods and others: %v, want %v", name, got, want)
		}
	}
	for _, p := range service.Spec.Ports {
		if !ports(p.TargetPort.StrVal) {
			t.Errorf("the service has a port %s, the pod none", p.TargetPort.StrVal)
		}
	}
	for _, from := range guard.Spec.Ingress {
		if !ports(from.Ports[0].Port.StrVal) {
			t.Errorf("the policy has a port %s, the pod none", from.Ports[0].Port.StrVal)
		}
	}
	// The operator writes the token into the configuration of Prometheus as it is.
	if token := secret.Data["page.token"]; len(token) == 0 || bytes.ContainsAny(token, " \r\n") {
		t.Errorf("the token %q is no value of a header", token)
	}
	endpoint := monitor.Spec.PodMetricsEndpoints[0]
	if !ports(*endpoint.Port) || secret.Data[endpoint.Authorization.Credentials.Key] == nil || endpoint.Authorization.Credentials.Name != secret.Name {
		t.Errorf("the monitor's port %s or secret %v is missing", *endpoint.Port, endpoint.Authorization.Credentials)
	}
}
