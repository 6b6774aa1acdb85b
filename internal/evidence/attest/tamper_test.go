package attest

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
)

// tampering is one way in which evidence is falsified, and what must be named.
type tampering struct {
	change func(t *testing.T, dir string)
	want   []string
}

// An attacker without a key changes files, and possibly the manifest to match.
var byStrangers = map[string]tampering{
	"byte of an observation": {
		func(t *testing.T, dir string) { swap(t, dir, observation(t, dir, "b"), `"value": 2`, `"value": 9`) },
		[]string{"files: observations/0", "b-reading-host-0.json: changed"},
	},
	"byte of an output": {
		func(t *testing.T, dir string) {
			swap(t, dir, strings.TrimSuffix(observation(t, dir, "b"), ".json")+".raw", "a", "x")
		},
		[]string{"b-reading-host-0.raw: changed (sha256 differs)"},
	},
	"observation removed": {
		func(t *testing.T, dir string) { remove(t, dir, observation(t, dir, "c")) },
		[]string{"c-reading-host-0.json: missing"},
	},
	"observation removed, manifest renewed": {
		func(t *testing.T, dir string) { remove(t, dir, observation(t, dir, "c")); renew(t, dir) },
		[]string{"subject[run:", "manifest: predicate.manifest.sha256", "manifest: predicate.manifest.files", "replay: "},
	},
	"verdict flipped in verdicts.json": {
		func(t *testing.T, dir string) { flipVerdicts(t, dir) },
		[]string{"files: verdicts.json: changed", `verdicts: verdicts.json results[c].verdict: has "passed", the journal has "failed"`},
	},
	"verdict flipped in verdicts.json, manifest renewed": {
		func(t *testing.T, dir string) { flipVerdicts(t, dir); renew(t, dir) },
		[]string{"manifest: predicate.manifest.sha256", `verdicts: verdicts.json results[c].verdict`},
	},
	"figure changed in the journal, manifest renewed": {
		func(t *testing.T, dir string) {
			swap(t, dir, "journal.jsonl", `"name":"sum","value":4`, `"name":"sum","value":9`)
			renew(t, dir)
		},
		[]string{"statement: predicate.steps[c].figures[sum].value: the statement has 4, the run has 9", "replay: c: same verdict, other figures"},
	},
	"journal line removed": {
		func(t *testing.T, dir string) { cutLine(t, dir, `"type":"verdict","step":"b"`, false) },
		[]string{"files: journal.jsonl: changed", "completeness: the run cannot be read: ", "has sequence number"},
	},
	"journal line removed and renumbered, manifest renewed": {
		func(t *testing.T, dir string) { cutLine(t, dir, `"type":"verdict","step":"b"`, true); renew(t, dir) },
		[]string{"completeness: b: planned step without a verdict", "statement: predicate.steps[b].verdict: the statement has \"passed\", the run has nothing"},
	},
	"journal lines reordered": {
		func(t *testing.T, dir string) { edit(t, dir, "journal.jsonl", swapLines) },
		[]string{"files: journal.jsonl: changed", "has sequence number"},
	},
	"end of the journal cut off": {
		func(t *testing.T, dir string) { cutLine(t, dir, `"type":"finished"`, true); renew(t, dir) },
		[]string{"completeness: journal.jsonl: the run has a manifest, but its journal has no finished entry"},
	},
	"step of the plan removed": {
		func(t *testing.T, dir string) { dropStep(t, dir); renew(t, dir) },
		[]string{"completeness: c: the journal has this step, the plan does not", "statement: predicate.plan.sha256"},
	},
	"file added": {
		func(t *testing.T, dir string) { add(t, dir, "observations/extra.raw") },
		[]string{"files: observations/extra.raw: extra"},
	},
	"file added, manifest renewed": {
		func(t *testing.T, dir string) { add(t, dir, "observations/extra.raw"); renew(t, dir) },
		[]string{"manifest: predicate.manifest.files: the statement has", "subject[run:"},
	},
	"link in place of a file": {
		func(t *testing.T, dir string) {
			remove(t, dir, "site.yaml")
			if err := os.Symlink("/etc/hostname", filepath.Join(dir, "site.yaml")); err != nil {
				t.Fatal(err)
			}
		},
		[]string{"files: ", "site.yaml: extra (not a regular file)"},
	},
	"entry of the manifest changed": {
		func(t *testing.T, dir string) {
			edit(t, dir, "manifest.json", func(data []byte) []byte {
				return regexp.MustCompile(`"sha256": "..`).ReplaceAll(data, []byte(`"sha256": "zz`))
			})
		},
		[]string{"manifest: manifest.json: ", "does not match its digest"},
	},
	"digest of the manifest changed": {
		func(t *testing.T, dir string) {
			edit(t, dir, "manifest.json", func(data []byte) []byte {
				return regexp.MustCompile(`"digest": "........`).ReplaceAll(data, []byte(`"digest": "00000000`))
			})
		},
		[]string{"manifest: manifest.json: ", "does not match its digest"},
	},
	"manifest removed": {
		func(t *testing.T, dir string) { remove(t, dir, "manifest.json") },
		[]string{"manifest: manifest.json: missing: it was removed, because the statement is of a finished run"},
	},
	"attestation removed": {
		func(t *testing.T, dir string) { remove(t, dir, evidence.AttestationFile) },
		[]string{"signature: attestation.intoto.jsonl: missing: the run is not signed, or its attestation was removed"},
	},
	"attestation emptied": {
		func(t *testing.T, dir string) {
			edit(t, dir, evidence.AttestationFile, func([]byte) []byte { return nil })
		},
		[]string{"envelope: attestation.intoto.jsonl: empty file"},
	},
	"recipe swapped": {
		func(t *testing.T, dir string) { swap(t, dir, "recipe.yaml", "RecipeResult", "Another") },
		[]string{"files: recipe.yaml: changed", "subject: subject[recipe:h100-lab-training].digest.sha256", "statement: predicate.inputs.recipe.sha256"},
	},
	"simulated flag flipped in the run": {
		func(t *testing.T, dir string) { swap(t, dir, "run.json", `"simulated": true`, `"simulated": false`) },
		[]string{"files: run.json: changed", "statement: predicate.inputs.simulated: the statement has true, the run has false"},
	},
	"simulated flag flipped in the statement": {
		func(t *testing.T, dir string) { payload(t, dir, `"simulated":true`, `"simulated":false`) },
		[]string{"signature: ", "statement: predicate.inputs.simulated: the statement has false, the run has true"},
	},
	"verdict flipped in the statement": {
		func(t *testing.T, dir string) { payload(t, dir, `"verdict":"failed"`, `"verdict":"passed"`) },
		[]string{"signature: ", `statement: predicate.verdict: the statement has "passed", the run has "failed"`},
	},
	"subject of another run": {
		func(t *testing.T, dir string) {
			payload(t, dir, `"name":"run:2026`, `"name":"run:2025`)
		},
		[]string{"signature: ", "subject: subject[run:2025"},
	},
	"predicate type": {
		func(t *testing.T, dir string) { payload(t, dir, PredicateType, "https://slsa.dev/provenance/v1") },
		[]string{"signature: ", "schema: statement: /predicateType: "},
	},
	"unknown key in the statement": {
		func(t *testing.T, dir string) { payload(t, dir, `"predicate":{`, `"predicate":{"waived":true,`) },
		[]string{"signature: ", "schema: statement: ", "waived"},
	},
	"key twice in the statement": {
		func(t *testing.T, dir string) {
			payload(t, dir, `"simulated":true`, `"simulated":false,"simulated":true`)
		},
		[]string{"signature: ", "schema: statement: ", "possibly a duplicate key"},
	},
	"payload type": {
		func(t *testing.T, dir string) {
			envelope(t, dir, func(env *dsse.Envelope) { env.PayloadType = "application/json" })
		},
		[]string{"envelope: attestation.intoto.jsonl: payload type is \"application/json\"", "signature: "},
	},
	"payload that is not base64": {
		func(t *testing.T, dir string) {
			envelope(t, dir, func(env *dsse.Envelope) { env.Payload = "%" })
		},
		[]string{"envelope: ", "not base64"},
	},
	"byte of the signature": {
		func(t *testing.T, dir string) {
			envelope(t, dir, func(env *dsse.Envelope) {
				sig, err := base64.StdEncoding.DecodeString(env.Signatures[0].Sig)
				if err != nil {
					t.Fatal(err)
				}
				sig[0] ^= 1
				env.Signatures[0].Sig = base64.StdEncoding.EncodeToString(sig)
			})
		},
		[]string{"signature: attestation.intoto.jsonl: no signature of a given key"},
	},
	"signature removed": {
		func(t *testing.T, dir string) {
			envelope(t, dir, func(env *dsse.Envelope) { env.Signatures = nil })
		},
		[]string{"signature: ", "the envelope names none"},
	},
	"signed with another key": {
		func(t *testing.T, dir string) { state(t, dir, key(t, 'x'), func(*Statement) {}) },
		[]string{"signature: attestation.intoto.jsonl: no signature of a given key"},
	},
	"signed with another key that names the right one": {
		func(t *testing.T, dir string) {
			state(t, dir, key(t, 'x'), func(*Statement) {})
			id, err := key(t, 'k').KeyID()
			if err != nil {
				t.Fatal(err)
			}
			envelope(t, dir, func(env *dsse.Envelope) { env.Signatures[0].KeyID = id })
		},
		[]string{"signature: attestation.intoto.jsonl: no signature of a given key"},
	},
	"two statements": {
		func(t *testing.T, dir string) {
			edit(t, dir, evidence.AttestationFile, func(data []byte) []byte { return append(bytes.Clone(data), data...) })
		},
		[]string{"envelope: attestation.intoto.jsonl: 2 envelopes, want one"},
	},
	"statement of another run": {
		func(t *testing.T, dir string) {
			other := evidencetest.Interrupted(t)
			sign(t, other)
			data, err := evidence.Attestation(other)
			if err != nil {
				t.Fatal(err)
			}
			if err := evidence.Attach(dir, data, true); err != nil {
				t.Fatal(err)
			}
		},
		[]string{"manifest: manifest.json: the statement is of the interrupted run", `statement: predicate.state: the statement has "interrupted", the run has "finished"`},
	},
}

// An attacker with the key can sign any content, but verdicts that do not follow
// from the observations are found.
var bySigners = map[string]tampering{
	"observation changed, all signed again": {
		func(t *testing.T, dir string) {
			swap(t, dir, observation(t, dir, "b"), `"value": 2`, `"value": 9`)
			signAgain(t, dir)
		},
		[]string{"replay: b: verdict passed, now failed", "replay: c: verdict failed, now blocked"},
	},
	"verdict changed everywhere, all signed again": {
		func(t *testing.T, dir string) {
			swap(t, dir, "journal.jsonl", `"step":"c","verdict":"failed"`, `"step":"c","verdict":"passed"`)
			signAgain(t, dir)
		},
		[]string{"verdicts: verdicts.json results[c].verdict", "replay: c: verdict passed, now failed"},
	},
	"verdict removed, all signed again": {
		func(t *testing.T, dir string) {
			cutLine(t, dir, `"type":"verdict","step":"b"`, true)
			signAgain(t, dir)
		},
		[]string{"completeness: b: planned step without a verdict"},
	},
	"step removed from plan, all signed again": {
		func(t *testing.T, dir string) { dropStep(t, dir); signAgain(t, dir) },
		[]string{"completeness: c: the journal has this step, the plan does not"},
	},
	"figure of the statement": {
		func(t *testing.T, dir string) {
			state(t, dir, key(t, 'k'), func(s *Statement) { s.Predicate.Steps[2].Figures[0].Value = 9 })
		},
		[]string{"statement: predicate.steps[c].figures[sum].value: the statement has 9, the run has 4"},
	},
	"verdict of the statement": {
		func(t *testing.T, dir string) {
			state(t, dir, key(t, 'k'), func(s *Statement) { s.Predicate.Steps[2].Verdict = check.Passed })
		},
		[]string{`statement: predicate.steps[c].verdict: the statement has "passed", the run has "failed"`},
	},
	"step left out of the statement": {
		func(t *testing.T, dir string) {
			state(t, dir, key(t, 'k'), func(s *Statement) { s.Predicate.Steps = s.Predicate.Steps[:2] })
		},
		[]string{`statement: predicate.steps[c].verdict: the statement has nothing, the run has "failed"`},
	},
	"seed of the statement": {
		func(t *testing.T, dir string) {
			state(t, dir, key(t, 'k'), func(s *Statement) { *s.Predicate.Inputs.Seed = 1 })
		},
		[]string{"statement: predicate.inputs.seed: the statement has 1, the run has 42"},
	},
	"counts of the statement": {
		func(t *testing.T, dir string) {
			state(t, dir, key(t, 'k'), func(s *Statement) { s.Predicate.Counts.Failed-- })
		},
		[]string{"statement: predicate.counts.failed: the statement has 0, the run has 1"},
	},
	"cluster left out of the subjects": {
		func(t *testing.T, dir string) {
			state(t, dir, key(t, 'k'), func(s *Statement) { s.Subject = s.Subject[:2] })
		},
		[]string{"subject: subject[cluster:" + evidencetest.Cluster + "].name: the statement has nothing"},
	},
	"signed before it happened": {
		func(t *testing.T, dir string) {
			state(t, dir, key(t, 'k'), func(s *Statement) { s.Predicate.Attested = s.Predicate.Started })
		},
		[]string{"statement: predicate.attested: it is signed before the run's last entry"},
	},
	"finished run that the statement calls interrupted": {
		func(t *testing.T, dir string) {
			state(t, dir, key(t, 'k'), func(s *Statement) { s.Predicate.State = Interrupted })
		},
		[]string{"schema: statement: ", "statement: predicate.state"},
	},
}

func TestTampering(t *testing.T) {
	t.Parallel()
	if n := len(byStrangers) + len(bySigners); n < 20 {
		t.Errorf("only %d ways", n)
	}
	for name, tt := range byStrangers {
		t.Run(name, func(t *testing.T) { t.Parallel(); tamper(t, tt) })
	}
	for name, tt := range bySigners {
		t.Run("signer: "+name, func(t *testing.T) {
			t.Parallel()
			if r := tamper(t, tt); r.SignedBy == "" {
				t.Errorf("the signature is not theirs: %s", r)
			}
		})
	}
}

func tamper(t *testing.T, tt tampering) Report {
	t.Helper()
	dir := evidencetest.Finished(t)
	sign(t, dir)
	if r := verify(t, dir); r.Outcome() != OK {
		t.Fatalf("untouched: %s", r)
	}
	tt.change(t, dir)
	r := verify(t, dir)
	if r.Outcome() != Wrong {
		t.Errorf("outcome %s", r.Outcome())
	}
	for _, want := range tt.want {
		if !strings.Contains(r.String(), want) {
			t.Errorf("not named: %s\nfound:\n%s", want, r)
		}
	}
	return r
}

// The inventory of an interrupted run vouches for its files as a manifest does.
func TestTamperingWithAnInterruptedRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]tampering{
		"byte of an observation": {
			func(t *testing.T, dir string) { swap(t, dir, observation(t, dir, "b"), `"value": 2`, `"value": 9`) },
			[]string{"b-reading-host-0.json: changed", "replay: b: verdict passed, now failed"},
		},
		"observation removed": {
			func(t *testing.T, dir string) { remove(t, dir, observation(t, dir, "c")) },
			[]string{"c-reading-host-0.json: missing"},
		},
		"file added": {
			func(t *testing.T, dir string) { add(t, dir, "verdicts.json") },
			[]string{"files: verdicts.json: extra"},
		},
		"verdict added": {
			func(t *testing.T, dir string) {
				swap(t, dir, "journal.jsonl", `"verdict":"passed"`, `"verdict":"failed"`)
			},
			[]string{"files: journal.jsonl: changed", `verdict: the statement has "passed", the run has "failed"`},
		},
		"manifest made up": {
			func(t *testing.T, dir string) { renew(t, dir) },
			[]string{"manifest: manifest.json: the statement is of the interrupted run", "completeness: c: planned step without a verdict"},
		},
		"inventory shortened": {
			func(t *testing.T, dir string) {
				state(t, dir, key(t, 'k'), func(s *Statement) { s.Predicate.Manifest.Inventory = s.Predicate.Manifest.Inventory[1:] })
			},
			[]string{"files: journal.jsonl: extra", "manifest: predicate.manifest.sha256"},
		},
		"missing step left out": {
			func(t *testing.T, dir string) {
				state(t, dir, key(t, 'k'), func(s *Statement) { s.Predicate.Missing = s.Predicate.Missing[:1] })
			},
			[]string{"statement: predicate.missing[1]: the statement has nothing, the run has \"d\""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := evidencetest.Interrupted(t)
			sign(t, dir)
			tt.change(t, dir)
			r := verify(t, dir)
			for _, want := range tt.want {
				if r.Outcome() != Wrong || !strings.Contains(r.String(), want) {
					t.Errorf("not named: %s\nfound:\n%s", want, r)
				}
			}
		})
	}
}

func add(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func flipVerdicts(t *testing.T, dir string) {
	t.Helper()
	edit(t, dir, "verdicts.json", func(data []byte) []byte {
		i := bytes.Index(data, []byte(`"step": "c"`))
		return append(bytes.Clone(data[:i]), bytes.Replace(data[i:], []byte(`"failed"`), []byte(`"passed"`), 1)...)
	})
}

// cutLine removes the first line with text from the journal; count renumbers the
// others.
func cutLine(t *testing.T, dir, text string, count bool) {
	t.Helper()
	edit(t, dir, "journal.jsonl", func(data []byte) []byte {
		var out []byte
		n := 0
		for line := range bytes.Lines(data) {
			if text != "" && bytes.Contains(line, []byte(text)) {
				text = ""
				continue
			}
			if n++; count {
				line = regexp.MustCompile(`^\{"seq":\d+`).ReplaceAll(line, []byte(`{"seq":`+strconv.Itoa(n)))
			}
			out = append(out, line...)
		}
		return out
	})
}

func swapLines(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines[2], lines[3] = lines[3], lines[2]
	return bytes.Join(lines, nil)
}

// dropStep removes c from the plan.
func dropStep(t *testing.T, dir string) {
	t.Helper()
	edit(t, dir, "plan.json", func(data []byte) []byte {
		return regexp.MustCompile(`(?s)\{\s*"name": "c".*?\},\s*`).ReplaceAll(data, nil)
	})
}
