// Package ray_test runs the gates of spine ray on a lab with KubeRay's operator, and puts in the faults of its
// RayCluster.
package ray_test

import (
	"context"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/ray"
	"github.com/firstlight/firstlight/internal/suite"
)

const (
	lab    = "rays"
	holder = "internal/e2e/ray TestRay"
)

var program binary.Firstlight

func TestMain(m *testing.M) { binary.Main(m, &program, nil, program.LabDown(lab)) }

// accept runs the gates with the site of the example.
func accept(t *testing.T, args ...string) (binary.Acceptance, binary.Result) {
	t.Helper()
	return program.Accept(t, lab, append([]string{"--site", filepath.Join("..", "..", "..", "examples", "sites", "ray.yaml")}, args...)...)
}

// TestRay: a RayCluster that KubeRay has made passes the whole walk, and gate gpustack names the culprit of each
// fault. Nothing remains of a run.
func TestRay(t *testing.T) {
	suite.Admit(t)
	ctx, cancel := context.WithTimeout(t.Context(), 75*time.Minute) // upstream programs may have to be built
	defer cancel()
	if r := program.Run(ctx, "lab", "up", "--name", lab, "--with", "ray"); r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	a, r := accept(t)
	want := []string{"passed", "passed", "passed", "passed", "not-applicable", "not-applicable", "not-applicable", "not-applicable"}
	if r.Code != 0 || a.Verdict != "passed" || len(a.Gates) != len(want) {
		t.Fatalf("exit %d, %+v", r.Code, a)
	}
	for i, g := range a.Gates {
		if g.Verdict != want[i] {
			t.Errorf("gate %s: %s (%s), want %s", g.Gate, g.Verdict, g.Reason, want[i])
		}
	}
	if !strings.Contains(a.Gates[3].Reason, "ray/ray is ready with 4 nodes and 8 GPUs each") {
		t.Error(a.Gates[3].Reason)
	}
	requireClean(t)
	for kind, suspect := range map[string]string{
		"kuberay-operator-down": `^kuberay-operator$`, "ray-group-short": `^worker group gpu$`, "ray-worker-not-ready": `^gpu-02$`,
		"ray-gpus-short": `^gpu-03$`, "ray-bundle-not-committed": `^gpu-04$`, "ray-head-restarting": `^head of RayCluster ray/ray$`,
	} {
		t.Run(kind, func(t *testing.T) {
			suite.RequireFault(t, holder, kind)
			program.Must(t, "lab", "fault", "add", kind, "--name", lab)
			defer program.Must(t, "lab", "fault", "clear", "--all", "--name", lab)
			a, r := accept(t, "--only", "gpustack")
			if r.Code != 1 || len(a.Gates) != 1 || a.Gates[0].Verdict != "failed" {
				t.Fatalf("exit %d, %+v, want 1 and failed", r.Code, a)
			}
			for _, f := range a.Gates[0].Findings {
				if !regexp.MustCompile(suspect).MatchString(f.Suspect) || f.Remedy == "" {
					t.Errorf("finding %+v, want the suspect %s", f, suspect)
				}
			}
			requireClean(t)
		})
	}
	if a, r := accept(t, "--only", "gpustack"); r.Code != 0 {
		t.Errorf("after the faults: exit %d, %+v", r.Code, a)
	}
}

// requireClean requires that the lab's RayCluster is the only one, and that nothing of a run remains.
func requireClean(t *testing.T) {
	t.Helper()
	cluster := program.Cluster(t, lab)
	list, err := cluster.Dynamic.Resource(kube.RayClusters()).Namespace(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("%d RayClusters, %v, want that of the lab", len(list.Items), err)
	}
	if left, err := (kube.Guest{Cluster: cluster}).Leftovers(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left by runs: %v, %v", left, err)
	}
	requireCleanHead(t, cluster)
}

// requireCleanHead requires that a head that is ready has no job, and no placement group that was not removed.
func requireCleanHead(t *testing.T, cluster *kube.Cluster) {
	t.Helper()
	heads, err := cluster.Client.CoreV1().Pods("ray").List(t.Context(), metav1.ListOptions{LabelSelector: "ray.io/node-type=head"})
	if err != nil || len(heads.Items) != 1 {
		t.Fatalf("%d heads, %v", len(heads.Items), err)
	}
	ready := slices.ContainsFunc(heads.Items[0].Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	if !ready {
		return
	}
	address, stop, err := cluster.Forward(t.Context(), "ray", heads.Items[0].Name, ray.Port)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	client := ray.Client{Address: address, HTTP: ray.NewHTTPClient()}
	if jobs, err := client.Do(t.Context(), http.MethodGet, ray.JobsPath, nil); err != nil || strings.TrimSpace(string(jobs)) != "[]" {
		t.Errorf("jobs of Ray: %s, %v, want none", jobs, err)
	}
	raw, err := client.Do(t.Context(), http.MethodGet, ray.GroupsPath+"?detail=True", nil)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := ray.ParseGroups(raw)
	if err != nil || slices.ContainsFunc(groups.List, func(g ray.Group) bool { return g.State != ray.Removed }) {
		t.Errorf("placement groups %+v, %v, want none", groups.List, err)
	}
}
