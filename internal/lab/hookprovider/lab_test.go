package hookprovider

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/suite"
)

// asHook runs the hook as a process and kills it when until returns true.
func asHook(t *testing.T, r hook.Request, until func() bool) (hook.Response, int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), hookEnv+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(body), &out, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if until != nil {
		polltest.Until(t, "the moment to kill", until)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the group, as its runner does
		_ = cmd.Wait()                                      // killed
		return hook.Response{}, -1
	}
	_ = cmd.Wait() // its status is what the test is about
	resp, err := hook.ParseResponse(out.Bytes(), r)
	if err != nil {
		t.Errorf("%v\n%s", err, log.String())
	}
	return resp, cmd.ProcessState.ExitCode()
}

// The whole life of a deployment, killed on the way.
func TestDeployment(t *testing.T) {
	suite.Live(t)
	p := provider(t)
	const name = "fl-day-ah1-x"
	provision := request(hook.Provision, name, first)
	dir, err := lab.DirOf(name)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { _ = end(ctx, name) }) // where the test has failed

	asHook(t, provision, func() bool { // killed while the lab starts
		_, err := os.Stat(filepath.Join(dir, "lab.json"))
		return err == nil
	})
	before, err := p.record(name)
	if err != nil || before == nil {
		t.Fatalf("no record of the start: %v", err)
	}

	var both sync.WaitGroup
	got := make([]hook.Response, 2)
	for i := range got { // and asked for twice at the same time
		both.Go(func() {
			resp, status := asHook(t, provision, nil)
			if status != 0 || resp.Deployment == nil {
				t.Errorf("status %d: %s", status, resp.Error)
				return
			}
			got[i] = resp
		})
	}
	both.Wait()
	if t.Failed() {
		return
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" || !got[0].Deployment.Created.Equal(before.Created) {
		t.Errorf("two answers, begun at %s:\n%s", before.Created, diff)
	}
	d := *got[0].Deployment

	nodes, status := asHook(t, request(hook.GetNodes, name, first), nil)
	if status != 0 || nodes.Nodes == nil || len(*nodes.Nodes) != 1 {
		t.Fatalf("status %d, %s, nodes %+v", status, nodes.Error, nodes.Nodes)
	}
	if n := (*nodes.Nodes)[0]; !n.Ready || n.Cordoned || n.GPUs != 1 || n.UID == "" {
		t.Errorf("the node is %+v", n)
	}
	reached(t, d)

	if resp, status := asHook(t, request(hook.Provision, "fl-n1-ah1-x", first+1), nil); status != 1 || resp.Error == "" {
		t.Errorf("a second deployment: status %d, %q", status, resp.Error)
	}
	if resp, status := asHook(t, request(hook.Teardown, name, first), nil); status != 1 || resp.Error == "" {
		t.Errorf("with a token that is stale: status %d, %q", status, resp.Error)
	}

	teardown := request(hook.Teardown, name, first+1)
	asHook(t, teardown, func() bool { // killed when it has begun
		rec, err := p.record(name)
		return err == nil && (rec == nil || rec.Removing)
	})
	for range 2 { // and what is gone is gone
		if resp, status := asHook(t, teardown, nil); status != 0 || !resp.Deleted {
			t.Fatalf("status %d: %s", status, resp.Error)
		}
	}
	all, status := asHook(t, request(hook.Discover, name, first), nil)
	if status != 0 || len(*all.Deployments) != 0 {
		t.Errorf("status %d, left: %+v", status, all.Deployments)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its directory is left: %v", err)
	}
	if _, err := lab.Attach(t.Context(), name); err == nil {
		t.Error("its lab still runs")
	}
}

// reached uses a deployment as a person does: by a kubeconfig without a credential.
func reached(t *testing.T, d hook.Deployment) {
	t.Helper()
	data, err := d.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("client-key")) {
		t.Error("there is a key in the kubeconfig")
	}
	c, err := kube.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}
