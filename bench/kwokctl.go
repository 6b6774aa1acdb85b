package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	kwokctlPeer = "kwokctl"
	kwokctlUp   = "kwokctl: create cluster"
	// kwokctlCluster is the name of its cluster.
	kwokctlCluster = "bench"
)

// kwokctl starts control planes of the lab's own programs.
type kwokctl struct {
	program, kubectl string
	// create are the arguments of its start.
	create []string
	env    []string
	// kubeconfig is the file that create adds the cluster to.
	kubeconfig string
}

// kwokctlPrograms are the flags for the programs that kwokctl would download.
var kwokctlPrograms = []struct{ program, flag string }{
	{"etcd", "--etcd-binary"},
	{"kube-apiserver", "--kube-apiserver-binary"},
	{"kube-controller-manager", "--kube-controller-manager-binary"},
	{"kube-scheduler", "--kube-scheduler-binary"},
	{"kwok", "--kwok-controller-binary"},
}

// kwokctlConfig keeps its programs, etcd without authentication among them, off the network.
const kwokctlConfig = `apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlConfiguration
options:
  bindAddress: 127.0.0.1
`

// openKwokctl builds it where it is not built, and points it at the lab's programs.
func (b *bench) openKwokctl(ctx context.Context) (*kwokctl, error) {
	fmt.Fprintln(os.Stderr, "bench: kwokctl (built the first time)")
	peers, err := buildPeers(ctx)
	if err != nil {
		return nil, err
	}
	work := filepath.Join(b.dir, "kwokctl")
	k := &kwokctl{
		program:    filepath.Join(peers, "kwokctl"),
		kubectl:    filepath.Join(peers, "kubectl"),
		kubeconfig: filepath.Join(work, "kubeconfig"),
		// kubectl, which it runs to ask whether the cluster is ready, is the peers'. Nothing
		// can be downloaded: no proxy listens on the discard port.
		env: []string{
			"PATH=" + peers, "HOME=" + work, "KWOK_WORKDIR=" + work,
			"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
		},
	}
	if err := os.MkdirAll(work, 0o750); err != nil {
		return nil, fmt.Errorf("configure kwokctl: %w", err)
	}
	if err := os.WriteFile(filepath.Join(work, "kwok.yaml"), []byte(kwokctlConfig), 0o600); err != nil {
		return nil, fmt.Errorf("configure kwokctl: %w", err)
	}
	k.create = []string{
		"create", "cluster", "--name", kwokctlCluster, "--runtime", "binary", "--wait", "2m", "--timeout", "5m", "--kubeconfig", k.kubeconfig,
	}
	paths, err := b.programs(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range kwokctlPrograms {
		if paths[p.program] == "" {
			return nil, fmt.Errorf("%s is not built although a lab was up", p.program)
		}
		k.create = append(k.create, p.flag, paths[p.program])
	}
	return k, nil
}

// programs are the files of the lab's built programs, by name.
func (b *bench) programs(ctx context.Context) (map[string]string, error) {
	out, err := b.output(ctx, "lab", "programs", "list", "-o", "json")
	if err != nil {
		return nil, err
	}
	var all []struct {
		Program string `json:"program"`
		Path    string `json:"path"`
	}
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("read the list of programs: %w", err)
	}
	paths := map[string]string{}
	for _, p := range all {
		paths[p.Program] = p.Path
	}
	return paths, nil
}

// cycle creates a cluster and deletes it; only the creation is timed.
func (k *kwokctl) cycle(ctx context.Context) (took float64, err error) {
	defer func() {
		_, _, deleteErr := k.run(context.WithoutCancel(ctx), "delete", "cluster", "--name", kwokctlCluster, "--kubeconfig", k.kubeconfig)
		// delete leaves entries in the kubeconfig that the next cluster would reuse.
		err = errors.Join(err, deleteErr, os.Remove(k.kubeconfig))
	}()
	took, log, err := k.run(ctx, k.create...)
	if err != nil {
		return 0, err
	}
	// It exits 0 also after a timeout.
	if !bytes.Contains(log, []byte("Cluster is ready")) {
		return 0, fmt.Errorf("kwokctl did not find its cluster ready:\n%s", log)
	}
	return took, k.ready(ctx)
}

func (k *kwokctl) run(ctx context.Context, args ...string) (took float64, log []byte, err error) {
	cmd := interruptible(exec.CommandContext(ctx, k.program, args...))
	cmd.Env = k.env
	began := time.Now()
	log, err = cmd.CombinedOutput()
	if err != nil {
		return 0, nil, fmt.Errorf("kwokctl %v: %w\n%s", args, err, log)
	}
	return time.Since(began).Seconds(), log, nil
}

// ready asks the API server itself, by a process: client-go would keep the certificate
// authority of the cluster before, which had the same files and port.
func (k *kwokctl) ready(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, k.kubectl, "--kubeconfig", k.kubeconfig, "get", "--raw", "/readyz")
	cmd.Env = k.env
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "ok" {
		return fmt.Errorf("kwokctl's cluster is not ready: %s (%w)", out, cmp.Or(err, errNotReady))
	}
	return nil
}

var errNotReady = errors.New("the answer is not ok")
