package hookprovider

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

func TestDefectsThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, entry, want string }{
		{"right", "{reservation: r, version: v1.2.0, intent: training, times: 2, defect: slow, for: 5s}", ""},
		{"any test", "{reservation: r, times: 1, defect: hang}", ""},
		{"unknown", "{reservation: r, times: 1, defect: explodes}", `unknown defect "explodes": want one of cordoned, forgets, hang`},
		{"another key", "{reservation: r, times: 1, defect: hang, node: x}", `"node"`},
		{"no reservation", "{times: 1, defect: hang}", `missing key "reservation"`},
		{"negative", "{reservation: r, times: -1, defect: hang}", "invalid times -1: must not be negative"},
		{"version not allowed", "{reservation: r, times: 1, defect: forgets, version: main}", "forgets must not have a version"},
		{"invalid version", "{reservation: r, times: 1, defect: hang, version: v1.2}", `invalid version "v1.2": must be main or vX.Y.Z`},
		{"intent not allowed", "{reservation: r, times: 1, defect: teardown-fails, intent: training}", "teardown-fails must not have an intent"},
		{"unknown intent", "{reservation: r, times: 1, defect: hang, intent: play}", `unknown intent "play"`},
		{"invalid duration", "{reservation: r, times: 1, defect: slow, for: long}", `invalid for "long": must be a duration`},
		{"duration not allowed", "{reservation: r, times: 1, defect: hang, for: 5s}", "for is only valid with the defect slow"},
	} {
		_, err := parseDefects("defects.yaml", []byte("defects:\n  - "+tt.entry+"\n"))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestDefectsAreCountedDown(t *testing.T) {
	p := provider(t)
	ask := func(verb hook.Verb, change func(*hook.Request)) string {
		t.Helper()
		r := request(verb, "fl-x", first)
		if verb == hook.Test {
			r.Version = "v1.2.0"
		}
		if change != nil {
			change(&r)
		}
		again := &Provider{opts: p.opts} // nothing is kept but what is on the disk
		d, err := again.defect(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if d == nil {
			return ""
		}
		return d.Defect
	}
	if got := ask(hook.Test, nil); got != "" {
		t.Errorf("without a file: %s", got)
	}
	if err := os.MkdirAll(p.opts.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const text = `# of a rehearsal
defects:
  - {reservation: aws-h100, version: v1.2.0, intent: training, times: 2, defect: cordoned}
  - {reservation: aws-h100, times: 1, defect: no-gpus}
  - {reservation: aws-h100, times: 1, defect: forgets}
`
	if err := os.WriteFile(p.defectsPath(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		verb   hook.Verb
		change func(*hook.Request)
		want   string
	}{
		{hook.Provision, nil, ""},
		{hook.Test, func(r *hook.Request) { r.Reservation.Name = "gcp-h100" }, ""},
		{hook.Test, nil, defectCordoned},
		{hook.Test, func(r *hook.Request) { r.Version = "main" }, defectNoGPUs},
		{hook.Test, func(r *hook.Request) { r.Intent = config.Inference }, ""},
		{hook.Test, nil, defectCordoned},
		{hook.Test, nil, ""},
		{hook.Teardown, nil, defectForgets},
		{hook.Teardown, nil, ""},
	} {
		if got := ask(step.verb, step.change); got != step.want {
			t.Errorf("step %d: %q, want %q", i+1, got, step.want)
		}
	}
	if err := os.WriteFile(p.defectsPath(), []byte("defects: [{}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.defect(t.Context(), request(hook.Teardown, "fl-x", first)); err == nil {
		t.Error("a file that is wrong was taken for none")
	}
}

// Steps of a hand-over that go wrong leave what there is; discover tells it.
func TestDefectsOfAHandOver(t *testing.T) {
	p := provider(t)
	if err := os.MkdirAll(p.opts.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const text = `defects:
  - {reservation: aws-h100, times: 1, defect: provision-fails}
  - {reservation: aws-h100, times: 1, defect: teardown-fails}
  - {reservation: aws-h100, times: 1, defect: forgets}
`
	if err := os.WriteFile(p.defectsPath(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Provision(t.Context(), request(hook.Provision, "fl-x", first)); !errors.Is(err, errOnPurpose) {
		t.Errorf("provision: %v", err)
	}
	left := func() int {
		t.Helper()
		all, err := p.Discover(t.Context(), request(hook.Discover, "", 0))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	teardown := request(hook.Teardown, "fl-x", first)
	if err := p.Teardown(t.Context(), teardown); !errors.Is(err, errOnPurpose) || left() != 1 {
		t.Errorf("a teardown that fails: %v, %d are left", err, left())
	}
	if err := p.Teardown(t.Context(), teardown); err != nil || left() != 1 {
		t.Errorf("one that forgets: %v, %d are left", err, left())
	}
	if err := p.Teardown(t.Context(), teardown); err != nil || left() != 0 {
		t.Errorf("the next: %v, %d are left", err, left())
	}
}

func TestWhatIsNotTested(t *testing.T) {
	p := provider(t)
	if _, err := p.admit(request(hook.Provision, "fl-x", first)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*hook.Request)
		want   string
	}{
		"another deployment":      {func(r *hook.Request) { r.Deployment = "fl-y" }, "has no such deployment"},
		"another's":               {func(r *hook.Request) { r.Owner = "team-b" }, "has no such deployment"},
		"another intent":          {func(r *hook.Request) { r.Intent = config.Inference }, "its intent is training, not inference"},
		"a token that is too low": {func(r *hook.Request) { r.Lease.Token-- }, "is stale"},
	} {
		r := request(hook.Test, "fl-x", first)
		tt.change(&r)
		if _, err := p.Test(t.Context(), r); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	// Its lab was never started: nothing is observed, which is not a pass.
	result, err := p.Test(t.Context(), request(hook.Test, "fl-x", first))
	if err != nil || result.Verdict != hook.Unobserved || !strings.Contains(result.Reason, "lab is not running") {
		t.Errorf("got %+v, %v", result, err)
	}
	if (&podTest{}).result().Verdict != hook.Unobserved {
		t.Error("a test without observations passes")
	}
}
