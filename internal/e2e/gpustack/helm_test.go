package gpustack_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/suite"
)

const empty = "empty-stack"

// example is the site file of the documentation.
var example = filepath.Join("..", "..", "..", "examples", "sites", "helm.yaml")

// TestHelm accepts a lab without GPU software by the example's preparation: Helm installs the operator's
// chart, and NVIDIA's operator runs for its pod. Values that are wrong in two ways are named and
// leave nothing behind: one that the API refuses, and one whose pod is never scheduled. A wrong
// value in an upgrade leaves the installed revision.
//
// The operator was once taken for ready before it had read its ClusterPolicy, and after an uninstall
// the World's workers did not write the features of their hosts again: the second install found no
// GPU nodes.
func TestHelm(t *testing.T) {
	suite.Require(t, suite.All)
	suite.Admit(t)
	ctx, cancel := context.WithTimeout(t.Context(), 75*time.Minute) // upstream programs may have to be built
	defer cancel()
	t.Cleanup(func() {
		if r := program.Run(context.WithoutCancel(t.Context()), "lab", "down", "--name", empty); r.Code != 0 {
			t.Errorf("lab down exited %d: %s", r.Code, r.Stderr)
		}
	})
	if r := program.Run(ctx, "lab", "up", "--name", empty, "--stack", "none"); r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s", r.Code, r.Stderr)
	}
	client := program.Cluster(t, empty).Client
	acceptEmpty := func(t *testing.T, file string, more ...string) (a binary.Acceptance, code int, text string) {
		t.Helper()
		a, r := program.Accept(t, empty, append([]string{"--site", file}, more...)...)
		return a, r.Code, r.Stdout + r.Stderr
	}
	for name, c := range map[string]struct{ value, broken, says string }{
		"refused by the API": {"rdma: {enabled: true}", "rdma: {enabled: maybe}", "spec.driver.rdma.enabled"},
		"never ready":        {"operator:\n        nodeSelector: {kubernetes.io/hostname: system-01}", "operator:\n        nodeSelector: {kubernetes.io/hostname: system-99}", "Unschedulable"},
		// The operator's ClusterPolicy is ready for a moment, then never again.
		"no name of an image": {"version: 580.105.08", "version: {wrong: type}", "InvalidImageName"},
	} {
		t.Run(name, func(t *testing.T) {
			a, code, text := acceptEmpty(t, changed(t, c.value, c.broken, "timeout: 20m", "timeout: 1m"))
			i := slices.IndexFunc(a.Gates, func(g binary.Gate) bool { return g.Gate == "gpustack" })
			if code != 1 || i < 0 || a.Gates[i].Verdict != "failed" {
				t.Fatalf("exit %d\n%s", code, text)
			}
			named := slices.ContainsFunc(a.Gates[i].Findings, func(f binary.Finding) bool {
				return strings.HasPrefix(f.Suspect, "preparation helm upgrade --install gpu-operator") &&
					strings.Contains(f.Message, c.says) && strings.Contains(f.Message, "rolled back: uninstalled")
			})
			if !named {
				t.Errorf("no finding says %q and that the release is rolled back: %+v", c.says, a.Gates[i].Findings)
			}
			requireUninstalled(t, client)
		})
	}
	t.Run("installed", func(t *testing.T) {
		if a, code, text := acceptEmpty(t, example); code != 0 || a.Verdict != "passed" || len(a.Gates) != 8 {
			t.Errorf("exit %d, verdict %s, %d gates\n%s", code, a.Verdict, len(a.Gates), text)
		}
		d, err := client.AppsV1().Deployments("gpu-operator").Get(t.Context(), "gpu-operator", metav1.GetOptions{})
		if err != nil || d.Labels["app.kubernetes.io/managed-by"] != "Helm" || d.Status.ReadyReplicas != 1 {
			t.Errorf("Deployment gpu-operator is not Helm's or not ready: %v, %+v", err, d)
		}
	})
	t.Run("upgrade with an argument that the program refuses", func(t *testing.T) {
		file := changed(t, "operator:\n", "operator:\n        logging: {timeEncoding: sundial}\n", "timeout: 20m", "timeout: 1m")
		a, code, text := acceptEmpty(t, file, "--only", "gpustack")
		if code != 0 || a.Verdict != "passed" {
			t.Errorf("the installed revision does not pass: exit %d\n%s", code, text)
		}
		for _, want := range []string{"Deployment/gpu-operator/gpu-operator", "rolled back to revision 1"} {
			if !strings.Contains(text, want) {
				t.Errorf("the notes lack %q\n%s", want, text)
			}
		}
	})
}

// requireUninstalled looks for what Helm or the chart have left.
func requireUninstalled(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	if _, err := client.AppsV1().Deployments("gpu-operator").Get(t.Context(), "gpu-operator", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the operator's Deployment remains: %v", err)
	}
	left, err := client.CoreV1().Secrets("gpu-operator").List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("%d revisions of the release remain, %v", len(left.Items), err)
	}
}

// changed is the example with other texts, in pairs.
func changed(t *testing.T, pairs ...string) string {
	t.Helper()
	raw, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for i := 0; i < len(pairs); i += 2 {
		if strings.Count(text, pairs[i]) != 1 {
			t.Fatalf("the example does not have one %q", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	path := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
