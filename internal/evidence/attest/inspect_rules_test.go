package attest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/plan"
)

func outcomeOf(r Report, name string) Outcome {
	i := slices.IndexFunc(r.Checks, func(c Checked) bool { return c.Check == name })
	if i < 0 {
		return ""
	}
	return r.Checks[i].Outcome
}

func TestARunIsTheExpectedOne(t *testing.T) {
	t.Parallel()
	site, profile := []byte("name: a\n"), []byte("name: b\n")
	for name, tt := range map[string]struct {
		expected Expected
		only     string
		want     Outcome
		says     string
	}{
		"nothing is expected":               {Expected{}, "", None, ""},
		"nothing is expected of a part":     {Expected{}, "node", None, ""},
		"all":                               {Expected{Site: site, Profile: profile, Cluster: "uid"}, "", OK, ""},
		"the site":                          {Expected{Site: site}, "", OK, ""},
		"the profile":                       {Expected{Profile: profile}, "", OK, ""},
		"the cluster":                       {Expected{Cluster: "uid"}, "", OK, ""},
		"another site":                      {Expected{Site: profile}, "", Wrong, "site.yaml: differs"},
		"an empty site":                     {Expected{Site: []byte{}}, "", Wrong, "site.yaml: differs"},
		"another profile":                   {Expected{Profile: site}, "", Wrong, "profile.yaml: differs"},
		"another cluster":                   {Expected{Cluster: "other"}, "", Wrong, `the cluster is "uid", expected "other"`},
		"a part of the plan of the site":    {Expected{Site: site}, "node", Wrong, "only node was selected"},
		"a part of the plan of the cluster": {Expected{Cluster: "uid"}, "node", Wrong, "only node was selected"},
	} {
		i := inspection{found: newFound(), expected: tt.expected}
		i.expectedOf(&evidence.Bundle{Site: site, Profile: profile, Header: evidence.Header{Cluster: "uid", Only: tt.only}})
		r := i.done()
		if outcomeOf(r, CheckExpected) != tt.want || !strings.Contains(r.String(), tt.says) || tt.says == "" && len(r.Problems) > 0 {
			t.Errorf("%s: %s: %s", name, outcomeOf(r, CheckExpected), r)
		}
	}
}

// Verify compares a run with what is expected of it.
func TestVerifyComparesWithTheExpectedCluster(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	for cluster, want := range map[string]Outcome{evidencetest.Cluster: OK, "another": Wrong} {
		var told []string
		o := Options{Unsigned: true, ChecksFor: evidencetest.ChecksFor, Expected: Expected{Cluster: cluster}, Tell: func(format string, _ ...any) { told = append(told, format) }}
		r, err := Verify(t.Context(), dir, o)
		if err != nil || outcomeOf(r, CheckExpected) != want || r.Outcome() != want {
			t.Errorf("%s: %v %s", cluster, err, r)
		}
		if !slices.Equal(told, []string{"counting its files", "replaying %d steps"}) {
			t.Errorf("progress %q", told)
		}
	}
}

func TestAProblemOfTheArchiveIsOneOfTheRun(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	for name, tt := range map[string]struct {
		archive *Archive
		want    Outcome
	}{
		"a directory": {nil, None}, "whole": {&Archive{Files: 3}, OK}, "damaged": {&Archive{Files: 3, Problems: []string{"a link leaves the archive"}}, Wrong},
	} {
		r, err := Verify(t.Context(), dir, Options{Unsigned: true, ChecksFor: evidencetest.ChecksFor, Archive: tt.archive})
		if err != nil || outcomeOf(r, CheckArchive) != tt.want || (r.Outcome() == OK) != (tt.want != Wrong) {
			t.Errorf("%s: %v %s %s", name, err, r.Outcome(), r)
		}
	}
	if r := Refused(Archive{Problems: []string{"not an archive"}}); r.Outcome() != Wrong || !strings.Contains(r.String(), "archive: not an archive") {
		t.Errorf("refused: %s %s", r.Outcome(), r)
	}
	if r := Refused(Archive{}); r.Outcome() == OK {
		t.Errorf("refused without a problem: %s", r.Outcome())
	}
}

func TestACompleteRunHasAWholeJournal(t *testing.T) {
	t.Parallel()
	steps := evidence.PlanFile{Steps: []evidence.PlanStep{{Name: "a"}}}
	verdict := evidence.Entry{Type: evidence.EntryVerdict, Step: "a", Result: &plan.Result{Step: "a", Judgement: check.Judgement{Verdict: check.Passed}}}
	ended := evidence.Entry{Type: evidence.EntryFinished}
	for name, tt := range map[string]struct {
		bundle evidence.Bundle
		says   string // empty: complete
	}{
		"complete":                 {evidence.Bundle{Finished: true, Plan: steps, Entries: []evidence.Entry{verdict, ended}}, ""},
		"no steps":                 {evidence.Bundle{Finished: true, Entries: []evidence.Entry{ended}}, "the plan has no steps"},
		"no end":                   {evidence.Bundle{Finished: true, Plan: steps, Entries: []evidence.Entry{verdict}}, "has no finished entry"},
		"a last line cut off":      {evidence.Bundle{Finished: true, Torn: true, Plan: steps, Entries: []evidence.Entry{verdict, ended}}, "its last line is incomplete"},
		"no verdict":               {evidence.Bundle{Finished: true, Plan: steps, Entries: []evidence.Entry{ended}}, "a: planned step without a verdict"},
		"no verdict, from a later": {evidence.Bundle{Finished: true, Header: evidence.Header{From: "b"}, Plan: steps, Entries: []evidence.Entry{ended}}, ""},
		"no verdict, only another": {evidence.Bundle{Finished: true, Header: evidence.Header{Only: "b"}, Plan: steps, Entries: []evidence.Entry{ended}}, ""},
		"interrupted":              {evidence.Bundle{Plan: steps}, ""},
		"a step beyond the plan":   {evidence.Bundle{Plan: steps, Entries: []evidence.Entry{{Type: evidence.EntryBegun, Step: "z"}}}, "z: the journal has this step, the plan does not"},
	} {
		i := inspection{found: newFound()}
		i.completeness(&tt.bundle)
		r := i.done()
		if (outcomeOf(r, CheckCompleteness) == OK) != (tt.says == "") || !strings.Contains(r.String(), tt.says) {
			t.Errorf("%s: %s: %s", name, outcomeOf(r, CheckCompleteness), r)
		}
	}
}

// A replay without its checks is not checked, and the outcome is not a pass.
func TestAReplayThatIsNotPossibleIsNotChecked(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	for name, checks := range map[string]evidence.ChecksFor{
		"no checks":         nil,
		"checks in trouble": func(*evidence.Bundle) (evidence.Derived, error) { return evidence.Derived{}, errors.New("no profile") },
	} {
		r, err := Verify(t.Context(), dir, Options{Unsigned: true, ChecksFor: checks})
		if err != nil || outcomeOf(r, CheckReplay) != NotChecked || r.Outcome() != NotChecked {
			t.Errorf("%s: %v %s %s", name, err, outcomeOf(r, CheckReplay), r)
		}
		if un := r.Unchecked(); !slices.Contains(un, CheckReplay) || slices.Contains(un, CheckFiles) || slices.Contains(un, CheckSignature) {
			t.Errorf("%s: not checked: %q", name, un)
		}
	}
}

// A run with files that cannot be counted has no manifest that could match them.
func TestARunThatCannotBeCountedHasNoManifest(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	o := Options{Unsigned: true, ChecksFor: evidencetest.ChecksFor}
	m, err := evidence.Stored(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(t.Context(), dir, o); err != nil || r.Manifest != m.Digest || outcomeOf(r, CheckManifest) != OK {
		t.Errorf("%v: manifest %q, %s", err, r.Manifest, outcomeOf(r, CheckManifest))
	}
	if err := os.Symlink("site.yaml", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(t.Context(), dir, o); err != nil || outcomeOf(r, CheckFiles) != Wrong || outcomeOf(r, CheckManifest) != NotChecked {
		t.Errorf("with a link: %v: %s, manifest %s", err, r, outcomeOf(r, CheckManifest))
	}
}

// A run whose observation cannot be decoded is not replayed, and that is a problem of the run.
func TestARunThatCannotBeReplayedIsWrong(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	files, err := filepath.Glob(filepath.Join(dir, "observations", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	edit(t, filepath.Join(dir, "observations"), filepath.Base(files[0]), func(data []byte) []byte {
		return bytes.Replace(data, []byte(`"id": "`), []byte(`"id": "9`), 1)
	})
	renew(t, dir)
	r, err := Verify(t.Context(), dir, Options{Unsigned: true, ChecksFor: evidencetest.ChecksFor})
	if err != nil || outcomeOf(r, CheckReplay) != Wrong {
		t.Errorf("%v: %s: %s", err, outcomeOf(r, CheckReplay), r)
	}
}

func TestDocumentsDifferInEveryPlace(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	for name, tt := range map[string]struct {
		have, want any
		paths      []string
	}{
		"equal":               {m{"a": 1, "b": []any{1, 2}}, m{"a": 1, "b": []any{1, 2}}, nil},
		"a value":             {m{"a": 1}, m{"a": 2}, []string{"a"}},
		"an empty object":     {m{"a": m{}, "b": 1}, m{"b": 1}, []string{"a"}},
		"an empty list":       {m{"a": []any{}, "b": 1}, m{"b": 1}, []string{"a (order)"}},
		"an item":             {m{"a": []any{1, 2}}, m{"a": []any{1}}, []string{"a (order)", "a[1]"}},
		"the first item":      {m{"a": []any{1, 2}}, m{"a": []any{3, 2}}, []string{"a[0]"}},
		"the order of items":  {m{"a": []any{m{"step": "x"}, m{"step": "y"}}}, m{"a": []any{m{"step": "y"}, m{"step": "x"}}}, []string{"a (order)"}},
		"two of one name":     {m{"a": []any{m{"step": "x", "n": 1}, m{"step": "x", "n": 2}}}, m{"a": []any{m{"step": "x", "n": 1}, m{"step": "x", "n": 3}}}, []string{"a[1].n"}},
		"a number in another": {m{"a": "1"}, m{"a": 1}, []string{"a"}},
	} {
		differences, err := compare(tt.have, tt.want)
		var paths []string
		for _, d := range differences {
			paths = append(paths, d.path)
		}
		if err != nil || !slices.Equal(paths, tt.paths) {
			t.Errorf("%s: %v %q, want %q", name, err, paths, tt.paths)
		}
	}
}

// Documents that cannot be encoded or decoded are not equal.
func TestDocumentsThatCannotBeReadAreNotEqual(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{"no JSON": math.NaN(), "cut off": json.RawMessage(`{"a":`), "data at its end": json.RawMessage(`1 1`), "a key twice": json.RawMessage(`{"a":1,"a":1}`)} {
		for _, pair := range [][2]any{{v, v}, {v, 1}, {1, v}} {
			if differences, err := compare(pair[0], pair[1]); err == nil {
				t.Errorf("%s: %v", name, differences)
			}
		}
	}
	dir := evidencetest.Finished(t)
	for name, data := range map[string]string{"cut off": "{", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, evidence.VerdictsFileName), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		i := inspection{found: newFound(), dir: dir}
		i.verdicts(&evidence.Bundle{Finished: true})
		if r := i.done(); outcomeOf(r, CheckVerdicts) != Wrong {
			t.Errorf("%s: %s", name, r)
		}
	}
}

// A manifest that cannot be read hides no other problem.
func TestTheRestOfARunIsInspectedWithoutItsManifest(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, dir string){
		"not JSON": func(t *testing.T, dir string) { swap(t, dir, evidence.ManifestFileName, "{", "x") },
		"removed":  func(t *testing.T, dir string) { remove(t, dir, evidence.ManifestFileName) },
	} {
		dir := evidencetest.Finished(t)
		change(t, dir)
		r, err := Verify(t.Context(), dir, Options{Unsigned: true, ChecksFor: evidencetest.ChecksFor})
		if err != nil || outcomeOf(r, CheckManifest) != Wrong || r.Run == "" {
			t.Errorf("%s: %v: run %q: %s", name, err, r.Run, r)
		}
	}
}

func TestAnAttestationThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	if err := os.Mkdir(filepath.Join(dir, evidence.AttestationFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(t.Context(), dir, Options{Unsigned: true, ChecksFor: evidencetest.ChecksFor}); err == nil {
		t.Errorf("%s", r.Outcome())
	}
}

func TestClaimsAreCountedByTheirBasis(t *testing.T) {
	t.Parallel()
	observed, claimed := evidence.Claim{Field: "cluster", Basis: evidence.Observed}, evidence.Claim{Field: "tool", Basis: evidence.Claimed}
	for name, tt := range map[string]struct {
		claims []evidence.Claim
		want   Outcome
		says   string
	}{
		"none":     {nil, None, "no statement of run.json"},
		"observed": {[]evidence.Claim{observed}, OK, "all 1 observed"},
		"claimed":  {[]evidence.Claim{observed, claimed}, OK, "1 observed; claimed by the creator of the run: tool"},
	} {
		i := inspection{found: newFound()}
		i.claims(evidence.Replayed{Claims: tt.claims})
		if c := i.settled[CheckClaims]; c.Outcome != tt.want || !strings.Contains(c.Detail, tt.says) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestAPlanThatCannotBeDerivedIsNotTheRightOne(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		replayed evidence.Replayed
		want     Outcome
	}{
		"derived":     {evidence.Replayed{Planned: true}, OK},
		"not derived": {evidence.Replayed{}, None},
		"in part":     {evidence.Replayed{Planned: true, Unchecked: "components not compared"}, NotChecked},
		"in part, and another": {
			evidence.Replayed{Planned: true, Unchecked: "components not compared", Plan: []evidence.PlanProblem{{Step: "a", Message: "missing"}}}, Wrong,
		},
		"another": {evidence.Replayed{Planned: true, Plan: []evidence.PlanProblem{{Step: "a", Message: "missing"}}}, Wrong},
	} {
		i := inspection{found: newFound()}
		i.plan(tt.replayed)
		if r := i.done(); outcomeOf(r, CheckPlan) != tt.want {
			t.Errorf("%s: %s", name, r)
		}
	}
}

func TestEnvelopesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ data, says string }{
		"nothing":          {"\n", "empty file"},
		"two":              {"{}\n{}\n", "2 envelopes"},
		"no JSON":          {"{", "not a DSSE envelope"},
		"an unknown key":   {`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[],"more":1}`, "not a DSSE envelope"},
		"data at its end":  {`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[]} 1`, "not a DSSE envelope"},
		"another payload":  {`{"payloadType":"text/plain","payload":"e30=","signatures":[]}`, `payload type is "text/plain"`},
		"a payload in hex": {`{"payloadType":"application/vnd.in-toto+json","payload":"!","signatures":[]}`, "not base64"},
	} {
		if _, _, err := openEnvelope([]byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
	if line, err := Seal(t.Context(), []byte("{}"), nil); err == nil {
		t.Errorf("signed without a key: %s", line)
	}
	if by, err := signedBy(t.Context(), &dsse.Envelope{Signatures: []dsse.Signature{{KeyID: "a", Sig: "eA=="}}}, nil); err == nil {
		t.Errorf("signed by %q of no keys", by)
	}
}

// A statement that does not match its schema has those problems only.
func TestAnInvalidStatementHasTheProblemsOfItsSchema(t *testing.T) {
	t.Parallel()
	_, problems := decodeStatement([]byte(`{"predicateType":"x","_type":"y","subject":[],"predicate":{}}`))
	if len(problems) == 0 {
		t.Fatal("no problem")
	}
	for _, p := range problems {
		if strings.Contains(p, "canonical") || strings.HasPrefix(p, ":") {
			t.Errorf("%q", p)
		}
	}
}

// A statement signed at the time of the run's last entry is signed after it.
func TestAStatementMayBeSignedAtTheEndOfTheRun(t *testing.T) {
	t.Parallel()
	for by, want := range map[time.Duration]bool{0: true, -time.Nanosecond: false} {
		dir := evidencetest.Finished(t)
		sign(t, dir)
		state(t, dir, key(t, 'k'), func(s *Statement) { s.Predicate.Attested = s.Predicate.Finished.Add(by) })
		if r := verify(t, dir); (r.Outcome() == OK) != want {
			t.Errorf("%s: %s: %s", by, r.Outcome(), r)
		}
	}
}
