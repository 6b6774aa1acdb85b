package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
)

const kwok = "kwok.x-k8s.io/node"

// simulatedRun is a run on simulated hardware, with two observations that show it.
func simulatedRun(t *testing.T) string {
	t.Helper()
	return blindRunOn(t, false, "gpu-01", kwok)
}

// observationFile is the only observation of a check and kind.
func observationFile(t *testing.T, dir, of string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "observations", "*-"+of+"-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

// editObservation changes the fields of an observation.
func editObservation(t *testing.T, dir, of string, change func(o map[string]any)) {
	t.Helper()
	name, err := filepath.Rel(dir, observationFile(t, dir, of))
	if err != nil {
		t.Fatal(err)
	}
	editJSON(t, dir, name, func(o *map[string]any) { change(*o) })
}

// editRaw replaces a text in the output of an observation, and makes the observation say so.
func editRaw(t *testing.T, dir, of, old, text string) {
	t.Helper()
	path := strings.TrimSuffix(observationFile(t, dir, of), ".json") + ".raw"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.ReplaceAll(data, []byte(old), []byte(text))
	if bytes.Equal(changed, data) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(changed)
	editObservation(t, dir, of, func(o map[string]any) {
		o["rawFile"] = map[string]any{"name": filepath.Base(path), "size": len(changed), "sha256": hex.EncodeToString(sum[:])}
	})
}

// saidReal makes run.json say that nothing is simulated.
func saidReal(t *testing.T, dir string) {
	t.Helper()
	command(t, dir, func(h *evidence.Header) {
		h.Simulated, h.SimulatedWhy = evidence.HardwareReal, "none of 1 nodes carries the annotation "+kwok
	})
}

const year = 365 * 24 * time.Hour

// another cluster than that of the run.
const another = "00000000-0000-4000-8000-000000000001"

// claimForgeries are edits of the claims of a run by an attacker with its directory and
// possibly the key; want is the problem that must be reported.
var claimForgeries = map[string]struct {
	change func(t *testing.T, dir string)
	want   string
}{
	"simulated dropped from run.json": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Simulated, h.SimulatedWhy = evidence.HardwareReal, "" })
	}, "simulated: run.json says false, observation 0001-identity-cluster-"},
	"simulated dropped, and the reason rewritten": {saidReal, "simulated: run.json says false, observation 0001-identity-cluster-"},
	"simulated dropped, and the annotation from the cluster's observation": {func(t *testing.T, dir string) {
		t.Helper()
		saidReal(t, dir)
		editRaw(t, dir, "identity-cluster", kwok, "example.com/node")
	}, "simulated: run.json says false, observation 0002-gpustack-nodes-cluster shows true"},
	"simulated dropped, and the cluster's observation": {func(t *testing.T, dir string) {
		t.Helper()
		saidReal(t, dir)
		removeObservation(t, dir, "identity-cluster")
	}, "simulated: run.json says false, observation 0002-gpustack-nodes-cluster shows true"},
	"another reason why it is simulated": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.SimulatedWhy = "1 of 512 nodes is a canary" })
	}, `simulatedWhy: run.json says "1 of 512 nodes is a canary"`},
	"no reason why it is simulated": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.SimulatedWhy = "" })
	}, `simulatedWhy: run.json says ""`},
	"real nodes in the cluster's observation alone": {func(t *testing.T, dir string) {
		t.Helper()
		editRaw(t, dir, "identity-cluster", kwok, "example.com/node")
	}, "simulated: run.json says true, observation 0001-identity-cluster-"},
	"another cluster in run.json": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Cluster = another })
	}, `cluster: run.json says "` + another + `", observation 0001-identity-cluster-`},
	"no cluster in run.json": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Cluster = "" })
	}, `cluster: run.json says "", observation 0001-identity-cluster-`},
	"another cluster in run.json and in the observation's target": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Cluster = another })
		editObservation(t, dir, "identity-cluster", func(o map[string]any) { o["target"] = another })
	}, "cluster: observation 0001-identity-cluster-"},
	"another cluster in the observation's output": {func(t *testing.T, dir string) {
		t.Helper()
		editRaw(t, dir, "identity-cluster", evidencetest.Cluster, another)
	}, `cluster: run.json says "` + evidencetest.Cluster + `", observation 0001-identity-cluster-`},
	"the cluster's observation removed": {func(t *testing.T, dir string) {
		t.Helper()
		removeObservation(t, dir, "identity-cluster")
	}, "cluster: run.json says " + evidencetest.Cluster + ", no observation shows it"},
	"the cluster's observation given to a gate": {func(t *testing.T, dir string) {
		t.Helper()
		editObservation(t, dir, "identity-cluster", func(o map[string]any) { o["check"] = "facility" })
	}, "cluster: run.json says " + evidencetest.Cluster + ", no observation shows it"},
	"a year younger in run.json": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Created = h.Created.Add(year) })
	}, "created: run.json has 2027-11-21"},
	"a year younger in run.json, by name too": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Created = h.Created.Add(year); h.Run = "2027" + h.Run[4:] })
	}, "created: run.json has 2027-11-21T01:42:34Z, the journal starts with created at 2026-11-21T01:42:34Z"},
	"another name": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Run = "20251121-014234-7f3a" })
	}, "created: run.json has 2026-11-21T01:42:34Z, the run ID is 20251121-014234-7f3a"},
	"the journal begins a year later": {func(t *testing.T, dir string) {
		t.Helper()
		editJournal(t, dir, func(e *evidence.Entry) bool {
			if e.Type == evidence.EntryCreated {
				e.At = e.At.Add(year)
			}
			return false
		})
	}, "created: run.json has 2026-11-21T01:42:34Z, the journal starts with created at 2027-11-21"},
	"the journal begins with something else": {func(t *testing.T, dir string) {
		t.Helper()
		editJournal(t, dir, func(e *evidence.Entry) bool { return e.Type == evidence.EntryCreated })
	}, "created: run.json has 2026-11-21T01:42:34Z, the journal starts with begun at"},
	"the journal ends before it began": {func(t *testing.T, dir string) {
		t.Helper()
		editJournal(t, dir, func(e *evidence.Entry) bool {
			if e.Type == evidence.EntryFinished {
				e.At = e.At.Add(-time.Hour)
			}
			return false
		})
	}, "journal: entry "},
	"observations a year older": {func(t *testing.T, dir string) {
		t.Helper()
		editObservation(t, dir, "facility-reach", func(o map[string]any) { o["at"] = "2025-11-21T01:42:40Z" })
	}, "facility: observation 0003-facility-reach-gpu-01 is dated 2025-11-21T01:42:40Z, the attempt was from"},
	"observations younger than the verdict": {func(t *testing.T, dir string) {
		t.Helper()
		editObservation(t, dir, "facility-reach", func(o map[string]any) { o["at"] = "2026-11-21T02:42:40Z" })
	}, "facility: observation 0003-facility-reach-gpu-01 is dated 2026-11-21T02:42:40Z"},
	"a verdict a year older": {func(t *testing.T, dir string) {
		t.Helper()
		editVerdict(t, dir, func(e *evidence.Entry) { e.Result.At = e.Result.At.Add(-year) })
	}, "facility: verdict is dated 2025-11-21"},
	"a verdict of tomorrow": {func(t *testing.T, dir string) {
		t.Helper()
		editVerdict(t, dir, func(e *evidence.Entry) { e.Result.At = e.Result.At.Add(24 * time.Hour) })
	}, "facility: verdict is dated 2026-11-22"},
	"a gate that ran longer": {func(t *testing.T, dir string) {
		t.Helper()
		editVerdict(t, dir, func(e *evidence.Entry) { e.Result.Started = e.Result.Started.Add(-10 * time.Minute) })
	}, "facility: start is dated 2026-11-21T01:32"},
	"a gate that ended later": {func(t *testing.T, dir string) {
		t.Helper()
		editVerdict(t, dir, func(e *evidence.Entry) { e.Result.Finished = e.Result.Finished.Add(10 * time.Minute) })
	}, "facility: end is dated 2026-11-21T01:52"},
	"a verdict kept from another cluster": {func(t *testing.T, dir string) {
		t.Helper()
		keep(t, dir, another, -time.Hour)
	}, `cluster: the verdict of facility is kept from run 20261120-010203-7f3a of cluster "` + another + `"`},
	"a verdict kept from no cluster": {func(t *testing.T, dir string) {
		t.Helper()
		keep(t, dir, "", -time.Hour)
	}, `cluster: the verdict of facility is kept from run 20261120-010203-7f3a of cluster ""`},
	"a verdict kept from after the run": {func(t *testing.T, dir string) {
		t.Helper()
		keep(t, dir, evidencetest.Cluster, time.Hour)
	}, "facility: verdict is dated 2026-11-21T02:42"},
}

func removeObservation(t *testing.T, dir, of string) {
	t.Helper()
	path := observationFile(t, dir, of)
	for _, name := range []string{path, strings.TrimSuffix(path, ".json") + ".raw"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// editVerdict changes that of the first gate.
func editVerdict(t *testing.T, dir string, change func(e *evidence.Entry)) {
	t.Helper()
	editJournal(t, dir, func(e *evidence.Entry) bool {
		if e.Type == evidence.EntryVerdict && e.Step == "facility" {
			change(e)
		}
		return false
	})
}

// keep makes the verdict of the first gate a kept one of another run, that much later.
func keep(t *testing.T, dir, cluster string, later time.Duration) {
	t.Helper()
	editVerdict(t, dir, func(e *evidence.Entry) {
		e.Type = evidence.EntryKept
		e.Result.KeptFrom, e.Result.KeptOf = "20261120-010203-7f3a", cluster
		for _, at := range []*time.Time{&e.Result.At, &e.Result.Started, &e.Result.Finished} {
			*at = at.Add(later)
		}
	})
}

// simulated, cluster and dates were claims: each was changed in run.json, signed, and verified.
func TestForgedClaims(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	if n := len(planForgeries) + len(claimForgeries); n < 40 {
		t.Errorf("%d forgeries, want at least 40", n)
	}
	private, _ := keys(t, "a")
	for name, f := range claimForgeries {
		t.Run(name, func(t *testing.T) {
			dir := simulatedRun(t)
			f.change(t, dir)
			reseal(t, dir)
			forgeryRefused(t, dir, private, "claims: "+f.want, "the run contradicts its observations: "+f.want)
		})
	}
}

// A holder of the key signed any page as report.html: its bytes were in the manifest, and nothing compared
// them with the observations.
func TestForgedReports(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	private, _ := keys(t, "a")
	version := cmdutil.Version
	t.Cleanup(func() { cmdutil.Version = version })
	sameVersion := func(dir string) {
		b, err := evidence.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		cmdutil.Version = b.Header.Tool
	}
	for _, name := range []string{"report.html", "junit.xml", "ctrf.json"} {
		t.Run(name, func(t *testing.T) {
			dir := simulatedRun(t)
			sameVersion(dir)
			path := filepath.Join(dir, name)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(data), "unobserved", "passed", 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if again, err := os.ReadFile(path); err != nil || string(again) == string(data) {
				t.Fatal("the report is unchanged", err)
			}
			reseal(t, dir)
			const want = ": is not the report of this run"
			forgeryRefused(t, dir, private, "claims: "+name+want, "the run contradicts its observations: "+name+want)
		})
	}
	t.Run("unchanged", func(t *testing.T) {
		dir := simulatedRun(t)
		sameVersion(dir)
		out, _ := ours(t, cmdutil.ExitPassed, "evidence", "verify", dir)
		if want := "4 observed; claimed by the creator of the run: tool, command"; !strings.Contains(out, want) {
			t.Errorf("verify does not say %q:\n%s", want, out)
		}
	})
	t.Run("of another version", func(t *testing.T) {
		dir := simulatedRun(t)
		cmdutil.Version = "v0.0.0-other"
		out, _ := ours(t, cmdutil.ExitPassed, "evidence", "verify", dir)
		if want := "3 observed; claimed by the creator of the run: tool, command, reports"; !strings.Contains(out, want) {
			t.Errorf("verify does not say %q:\n%s", want, out)
		}
	})
}

// A statement that the observations of the run do not support is marked as a claim.
func TestVerifyMarksClaims(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := simulatedRun(t)
	out, _ := ours(t, cmdutil.ExitPassed, "evidence", "verify", dir)
	if want := "3 observed; claimed by the creator of the run: tool, command"; !strings.Contains(out, want) {
		t.Errorf("verify does not say %q:\n%s", want, out)
	}
	out, _ = ours(t, cmdutil.ExitPassed, "evidence", "verify", dir, "-o", "json")
	var v verification
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	got := map[string]evidence.Basis{}
	for _, c := range v.Claims {
		got[c.Field] = c.Basis
	}
	for field, want := range map[string]evidence.Basis{
		"cluster": evidence.Observed, "simulated": evidence.Observed, "dates": evidence.Observed, "tool": evidence.Claimed, "command": evidence.Claimed,
	} {
		if got[field] != want {
			t.Errorf("%s is %q, want %q", field, got[field], want)
		}
	}
}
