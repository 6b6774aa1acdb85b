package hookprovider

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

const first = int64(1_800_000_000_000)

func request(verb hook.Verb, name string, token int64) hook.Request {
	row := config.Reservation{Name: "aws-h100", Slug: "ah1", Cloud: config.AWS, Accelerator: "h100", GPUCount: 1, NodeCount: 1}
	return hook.Request{
		APIVersion: hook.APIVersion, Verb: verb, Owner: "team-a", Cloud: row.Cloud, Reservation: &row, Intent: config.Training,
		Deployment: name, Lease: hook.Lease{Token: token, Holder: "rotation"}, Deadline: time.Now().Add(time.Hour), Attempt: 1,
	}
}

func provider(t *testing.T) *Provider {
	t.Helper()
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	p, err := New(options())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTokensOnlyGrow(t *testing.T) {
	p := provider(t)
	for _, step := range []struct {
		token   int64
		refused bool
	}{{5, false}, {5, false}, {4, true}, {7, false}, {5, true}, {7, false}} {
		again := &Provider{opts: p.opts} // nothing is kept but what is on the disk
		err := again.raise("aws-h100", step.token)
		var stale *StaleError
		if errors.As(err, &stale) != step.refused || err != nil && !step.refused {
			t.Errorf("token %d: %v", step.token, err)
		}
	}
	if err := p.raise("gcp-h100", 1); err != nil {
		t.Errorf("of another reservation: %v", err)
	}
	if err := os.WriteFile(p.tokenPath("aws-h100"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.raise("aws-h100", 9); err == nil {
		t.Error("an unreadable token was ignored")
	}
}

func TestAdmit(t *testing.T) {
	p := provider(t)
	if _, err := p.admit(request(hook.Provision, "one", first)); err != nil {
		t.Fatal(err)
	}
	var full *FullError
	if _, err := p.admit(request(hook.Provision, "two", first)); !errors.As(err, &full) || full.Stands != "one" {
		t.Errorf("a second one: %v", err)
	}
	again, err := p.admit(request(hook.Provision, "one", first))
	if err != nil || again.Token != first || again.Created.IsZero() {
		t.Errorf("the same again: %v %+v", err, again)
	}
	if _, err := p.admit(request(hook.Provision, "one", first+1)); err == nil || !strings.Contains(err.Error(), "tear it down first") {
		t.Errorf("under another token: %v", err)
	}
	other := request(hook.Provision, "other", 1)
	other.Reservation.Name = "aws-other"
	if _, err := p.admit(other); err != nil {
		t.Errorf("of another reservation: %v", err)
	}
	all, err := p.Discover(t.Context(), hook.Request{Verb: hook.Discover, Cloud: config.AWS})
	if err != nil || len(all) != 2 {
		t.Errorf("found %v: %v", all, err)
	}
	none, err := p.Discover(t.Context(), hook.Request{Verb: hook.Discover, Cloud: config.GCP})
	if err != nil || none == nil || len(none) != 0 {
		t.Errorf("of another cloud: %v: %v", none, err)
	}
	if err := os.WriteFile(p.recordPath("broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Discover(t.Context(), hook.Request{Verb: hook.Discover, Cloud: config.AWS}); err == nil {
		t.Error("an unreadable record was ignored")
	}
}

func TestTeardownOfAMissingDeployment(t *testing.T) {
	p := provider(t)
	if err := p.Teardown(t.Context(), request(hook.Teardown, "none", first)); err != nil {
		t.Error(err)
	}
	var stale *StaleError
	if err := p.Teardown(t.Context(), request(hook.Teardown, "none", first-1)); !errors.As(err, &stale) {
		t.Errorf("with a lower token: %v", err)
	}
}

// A record without a running lab can be torn down.
func TestTeardownOfARecordAlone(t *testing.T) {
	p := provider(t)
	r := request(hook.Provision, "fl-alone", first)
	if _, err := p.admit(r); err != nil {
		t.Fatal(err)
	}
	others := request(hook.Teardown, "fl-alone", first)
	others.Owner = "team-b"
	if err := p.Teardown(t.Context(), others); err == nil || !strings.Contains(err.Error(), "belongs to reservation") {
		t.Errorf("another's was torn down: %v", err)
	}
	if err := p.Teardown(t.Context(), request(hook.Teardown, "fl-alone", first+1)); err != nil {
		t.Fatal(err)
	}
	if rec, err := p.record("fl-alone"); rec != nil || err != nil {
		t.Errorf("its record is %+v: %v", rec, err)
	}
}

func TestHardware(t *testing.T) {
	t.Parallel()
	for gpus, want := range map[int]string{1: "a3-highgpu-1g", 8: "h100-sxm-ndr400", 3: ""} {
		h, err := hardwareOf(config.Reservation{Name: "r", GPUCount: gpus})
		if h.kind != want || (err == nil) != (want != "") || want != "" && h.nodes != 1 {
			t.Errorf("%d GPUs: %+v, %v", gpus, h, err)
		}
	}
}

// A starting process that has not registered is found by its arguments.
func TestTheProcessOfALabThatStarts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x")
	started := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", "while :; do sleep 600; done", "sh"}, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	its, others := started("--name=fl-x", "--dir="+dir), started("--name=fl-x", "--dir="+dir+"y")
	var ends sync.WaitGroup
	ends.Go(func() { _ = its.Wait() }) // killed
	if err := killUnregistered("fl-x", dir); err != nil {
		t.Fatal(err)
	}
	ends.Wait()
	if others.ProcessState != nil || others.Process.Kill() != nil {
		t.Error("another lab's process was ended")
	}
	_ = others.Wait() // killed
}
