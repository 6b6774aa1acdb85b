// Package k3s_test runs the gates of spine k3s on a lab of k3s, and puts in its faults.
package k3s_test

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/suite"
)

const (
	lab    = "k3s"
	holder = "internal/e2e/k3s TestK3s"
)

var program binary.Firstlight

func TestMain(m *testing.M) { binary.Main(m, &program, nil, program.LabDown(lab)) }

// accept runs the gates with the site of the example.
func accept(t *testing.T, args ...string) (binary.Acceptance, binary.Result) {
	t.Helper()
	return program.Accept(t, lab, append([]string{"--site", filepath.Join("..", "..", "..", "examples", "sites", "k3s.yaml")}, args...)...)
}

// TestK3s: a lab of k3s passes the whole walk, and gate gpustack names the culprit of each fault and of no other.
func TestK3s(t *testing.T) {
	suite.Admit(t)
	ctx, cancel := context.WithTimeout(t.Context(), 75*time.Minute) // upstream programs may have to be built
	defer cancel()
	if r := program.Run(ctx, "lab", "up", "--name", lab, "--spine", "k3s"); r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	a, r := accept(t)
	if r.Code != 0 || a.Verdict != "passed" || len(a.Gates) != 8 {
		t.Fatalf("exit %d, %+v", r.Code, a)
	}
	for _, g := range a.Gates {
		if g.Verdict != "passed" {
			t.Errorf("gate %s: %s (%s)", g.Gate, g.Verdict, g.Reason)
		}
	}
	if why := a.Gates[3].Reason; !regexp.MustCompile(`; 4 nodes of k3s \(kubelet v1\.\d+\.\d+\+k3s1\); packaged components ready: coredns, local-path-provisioner, metrics-server, svclb-traefik, traefik$`).MatchString(why) {
		t.Error(why)
	}
	for kind, c := range map[string]struct {
		suspect, says string
		args          []string
	}{
		"k3s-toolkit-socket":      {`^ClusterPolicy cluster-policy/toolkit$`, "CONTAINERD_SOCKET is not set", nil},
		"k3s-toolkit-config":      {`^ClusterPolicy cluster-policy/toolkit$`, "CONTAINERD_CONFIG is /etc/containerd/config.toml", nil},
		"k3s-foreign-node":        {`^gpu-02$`, "of gpu-02 is not of k3s", nil},
		"k3s-agent-newer":         {`^gpu-03$`, "is newer than", nil},
		"k3s-agent-outdated":      {`^gpu-04$`, "is 4 minor versions older than", nil},
		"k3s-host-containerd":     {`^gpu-02$`, "runs containerd://1.7.27, not the containerd of k3s", nil},
		"k3s-component-not-ready": {`^DaemonSet kube-system/svclb-traefik$`, "0 of 2 pods are ready", []string{"--set", "component=svclb-traefik"}},
	} {
		t.Run(kind, func(t *testing.T) {
			suite.RequireFault(t, holder, kind)
			program.Must(t, append([]string{"lab", "fault", "add", kind, "--name", lab}, c.args...)...)
			defer program.Must(t, "lab", "fault", "clear", "--all", "--name", lab)
			a, r := accept(t, "--only", "gpustack")
			if r.Code != 1 || len(a.Gates) != 1 || a.Gates[0].Verdict != "failed" {
				t.Fatalf("exit %d, %+v, want 1 and failed", r.Code, a)
			}
			for _, f := range a.Gates[0].Findings {
				if !regexp.MustCompile(c.suspect).MatchString(f.Suspect) || !strings.Contains(f.Message, c.says) || f.Remedy == "" {
					t.Errorf("finding %+v, want the suspect %s and %q", f, c.suspect, c.says)
				}
			}
		})
	}
	if a, r := accept(t, "--only", "gpustack"); r.Code != 0 {
		t.Errorf("after the faults: exit %d, %+v", r.Code, a)
	}
}

// A lab without k3s refuses its faults, with the remedy, and its spine is not that of --spine.
func TestLabOfKubernetes(t *testing.T) {
	suite.Require(t, suite.All)
	suite.Admit(t)
	const other = "kubernetes"
	ctx, cancel := context.WithTimeout(t.Context(), 75*time.Minute)
	defer cancel()
	if r := program.Run(ctx, "lab", "up", "--name", other, "--nodes", "1"); r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	defer program.Must(t, "lab", "down", "--name", other)
	if r := program.Run(t.Context(), "lab", "fault", "add", "k3s-foreign-node", "--name", other); r.Code == 0 || !strings.Contains(r.Stderr, "firstlight lab up --name NAME --spine k3s") {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
	if r := program.Run(t.Context(), "lab", "up", "--name", other, "--spine", "k3s"); r.Code != 2 || !strings.Contains(r.Stderr, "is running with spine kubernetes, not k3s") {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
	example := filepath.Join("..", "..", "..", "examples", "sites", "k3s.yaml")
	r := program.Run(t.Context(), "accept", "-o", "json", "--lab", other, "--site", example, "--only", "gpustack", "--evidence", t.TempDir())
	if r.Code != 1 || !strings.Contains(r.Stdout, "is not of k3s") {
		t.Errorf("a site of k3s on other nodes: exit %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
}

// NVIDIA's own operator, unmodified, mounts the directories of the containerd that the gate judges, and without
// CONTAINERD_SOCKET those of the hosts' one: the gate fails, and the operator reports ready.
func TestRealOperator(t *testing.T) {
	suite.Require(t, suite.All)
	suite.Admit(t)
	const realStack = "k3s-real"
	ctx, cancel := context.WithTimeout(t.Context(), 75*time.Minute)
	defer cancel()
	if r := program.Run(ctx, "lab", "up", "--name", realStack, "--spine", "k3s", "--stack", "real"); r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	defer program.Must(t, "lab", "down", "--name", realStack)
	mounted := func() (config, socket string) {
		set, err := program.Cluster(t, realStack).Client.AppsV1().DaemonSets("gpu-operator").Get(t.Context(), "nvidia-container-toolkit-daemonset", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range set.Spec.Template.Spec.Volumes {
			switch v.Name {
			case "containerd-config":
				config = v.HostPath.Path
			case "containerd-socket":
				socket = v.HostPath.Path
			}
		}
		return config, socket
	}
	gate4 := func() (string, int) {
		r := program.Run(t.Context(), "accept", "--lab", realStack, "--only", "gpustack", "--evidence", t.TempDir())
		return r.Stdout + r.Stderr, r.Code
	}
	if config, socket := mounted(); config != "/var/lib/rancher/k3s/agent/etc/containerd" || socket != "/run/k3s/containerd" {
		t.Errorf("the operator mounts %s and %s", config, socket)
	}
	if out, code := gate4(); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	program.Must(t, "lab", "fault", "add", "k3s-toolkit-socket", "--name", realStack)
	if _, socket := mounted(); socket != "/run/containerd" {
		t.Errorf("without CONTAINERD_SOCKET the operator mounts %s", socket)
	}
	if out, code := gate4(); code != 1 || !strings.Contains(out, "ClusterPolicy cluster-policy/toolkit at gate gpustack") || strings.Contains(out, "not ready") {
		t.Errorf("exit %d: %s", code, out)
	}
}
