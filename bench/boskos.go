package main

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
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

// boskosModule is the peer of the reservation measurements.
const boskosModule = "sigs.k8s.io/boskos@v0.0.0-20250908171729-5e4ab7284e90"

// openBoskos starts it with as many resources as there are workers, kept by the same API
// server; its round takes one and gives it back.
func (b *bench) openBoskos(ctx context.Context, s *storetest.Store) (do round, stop func(), err error) {
	fmt.Fprintln(os.Stderr, "bench: boskos (built the first time)")
	program, source, err := b.buildBoskos(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := applyFile(ctx, s, filepath.Join(source, "deployments", "base", "crd.yaml")); err != nil {
		return nil, nil, err
	}
	base, halt, err := b.startBoskos(ctx, program, s)
	if err != nil {
		return nil, nil, err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: leaseWorkers}}
	var again atomic.Int64
	// The cache of Boskos lags its own writes: right after an acquire, a release can fail because
	// the resource has no owner yet; right after a release, an acquire can find it "not available".
	// Its clients retry.
	insist := func(to string, query url.Values, into any) error {
		var last error
		err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			if last = ask(ctx, client, base+to, query, into); last != nil {
				again.Add(1)
			}
			return last == nil, nil
		})
		if err != nil {
			return errors.Join(err, last)
		}
		return nil
	}
	stop = func() {
		halt()
		b.say("boskos: requests that had to be made again: %d", again.Load())
	}
	return func(worker int, acquire, release lap) error {
		owner := fmt.Sprintf("worker-%d", worker)
		var got struct {
			Name string `json:"name"`
		}
		if err := acquire(func() error {
			return insist("/acquire", url.Values{"type": {"bench"}, "state": {"free"}, "dest": {"busy"}, "owner": {owner}}, &got)
		}); err != nil {
			return err
		}
		return release(func() error {
			return insist("/release", url.Values{"name": {got.Name}, "dest": {"free"}, "owner": {owner}}, nil)
		})
	}, stop, nil
}

func ask(ctx context.Context, client *http.Client, to string, query url.Values, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to+"?"+query.Encode(), nil)
	if err != nil {
		return fmt.Errorf("ask boskos: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask boskos: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask boskos: %s: %s (%w)", resp.Status, bytes.TrimSpace(body), errors.Join(err, errNotOK))
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("ask boskos: %w", err)
	}
	return nil
}

var errNotOK = errors.New("not answered with 200")

// buildBoskos builds it where it is not built, outside the repository.
func (b *bench) buildBoskos(ctx context.Context) (program, source string, err error) {
	raw, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", boskosModule).Output()
	if err != nil {
		return "", "", fmt.Errorf("fetch boskos: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(raw, &module); err != nil {
		return "", "", fmt.Errorf("fetch boskos: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", fmt.Errorf("build boskos: %w", err)
	}
	_, version, _ := strings.Cut(boskosModule, "@")
	dir := filepath.Join(cache, "firstlight", "bench", "boskos-"+version)
	program = filepath.Join(dir, "boskos")
	if _, err := os.Stat(program); err == nil {
		return program, module.Dir, nil
	}
	cmd := exec.CommandContext(ctx, "go", "install", "sigs.k8s.io/boskos/cmd/boskos@"+version)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("build boskos: %w\n%s", err, out)
	}
	return program, module.Dir, nil
}

func applyFile(ctx context.Context, s *storetest.Store, path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read boskos' definitions: %w", err)
	}
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		return fmt.Errorf("reach the store: %w", err)
	}
	kinds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
			return served(ctx, client)
		} else if err != nil {
			return fmt.Errorf("read boskos' definitions: %w", err)
		}
		if _, err := kinds.Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: "bench"}); err != nil {
			return fmt.Errorf("apply boskos' definitions: %w", err)
		}
	}
}

// served waits until the API server serves boskos' kinds.
func served(ctx context.Context, client dynamic.Interface) error {
	for _, resource := range []string{"resources", "dynamicresourcelifecycles"} {
		kind := client.Resource(schema.GroupVersionResource{Group: "boskos.k8s.io", Version: "v1", Resource: resource})
		err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := kind.List(ctx, metav1.ListOptions{})
			return err == nil, nil
		})
		if err != nil {
			return fmt.Errorf("wait for boskos' %s: %w", resource, err)
		}
	}
	return nil
}

// startBoskos runs it and returns when it answers.
func (b *bench) startBoskos(ctx context.Context, program string, s *storetest.Store) (base string, stop func(), err error) {
	var names []string
	for i := range leaseWorkers {
		names = append(names, fmt.Sprintf("    - bench-%d\n", i))
	}
	config := filepath.Join(b.dir, "boskos.yaml")
	if err := os.WriteFile(config, []byte("resources:\n  - type: bench\n    state: free\n    names:\n"+strings.Join(names, "")), 0o600); err != nil {
		return "", nil, fmt.Errorf("configure boskos: %w", err)
	}
	ports, err := freePorts(ctx, 4)
	if err != nil {
		return "", nil, err
	}
	log, err := os.Create(filepath.Join(b.dir, "boskos.log"))
	if err != nil {
		return "", nil, fmt.Errorf("start boskos: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "--config="+config, "--kubeconfig="+s.Kubeconfig(), "--port="+ports[0],
		"--health-port="+ports[1], "--metrics-port="+ports[2], "--pprof-port="+ports[3], "--log-level=error")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start boskos: %w", err)
	}
	stop = func() {
		_ = cmd.Process.Kill() // it has no state worth keeping
		_ = cmd.Wait()
		_ = log.Close()
	}
	base = "http://127.0.0.1:" + ports[0]
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		var got struct{ Name string }
		if ask(ctx, http.DefaultClient, base+"/acquire", url.Values{"type": {"bench"}, "state": {"free"}, "dest": {"busy"}, "owner": {"probe"}}, &got) != nil {
			return false, nil //nolint:nilerr // asked again until the deadline
		}
		return ask(ctx, http.DefaultClient, base+"/release", url.Values{"name": {got.Name}, "dest": {"free"}, "owner": {"probe"}}, nil) == nil, nil
	})
	if err == nil {
		return base, stop, nil
	}
	stop()
	said, _ := os.ReadFile(filepath.Join(b.dir, "boskos.log")) // empty if it wrote no log
	return "", nil, fmt.Errorf("boskos does not answer: %w\n%s", err, said)
}

func freePorts(ctx context.Context, n int) ([]string, error) {
	var out []string
	for range n {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a port: %w", err)
		}
		defer l.Close()
		out = append(out, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return out, nil
}
