package evidence

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// planted are made-up secrets, each in what it is found in.
func planted() map[string]string {
	key := "-----BEGIN PRIVATE" + " KEY-----\nMC4CAQAwBQYDK2VwBCIEIPlantedPlantedPlantedPlanted\n-----END PRIVATE" + " KEY-----"
	return map[string]string{
		"eyJhbGciOiJSUzI1NiIs.eyJzdWIiOiJwbGFudGVk.UGxhbnRlZA": "Authorization: Bearer eyJhbGciOiJSUzI1NiIs.eyJzdWIiOiJwbGFudGVk.UGxhbnRlZA",
		"pl4nte.d0123456789abcde":                              "kubeadm join --token pl4nte.d0123456789abcde",
		"gh" + "p_PlantedPlantedPlantedPlantedPlanted123":      "git clone https://gh" + "p_PlantedPlantedPlantedPlantedPlanted123@github.com/x",
		"AKIA" + "PLANTEDPLANTED12":                            "key AKIA" + "PLANTEDPLANTED12",
		"nv" + "api-PlantedPlantedPlantedPlanted":              "docker login nvcr.io with nv" + "api-PlantedPlantedPlantedPlanted",
		"h" + "f_PlantedPlantedPlantedPlantedPlanted":          "downloading with h" + "f_PlantedPlantedPlantedPlantedPlanted",
		"MC4CAQAwBQYDK2VwBCIEIPlanted":                         key,
		base64.StdEncoding.EncodeToString([]byte(key))[:60]:    "client-key-data: " + base64.StdEncoding.EncodeToString([]byte(key)),
		"planted-kubeconfig-token":                             "users:\n- user:\n    token: planted-kubeconfig-token\n",
		"cGxhbnRlZDpwbGFudGVk":                                 `{"auths":{"nvcr.io":{"auth":"cGxhbnRlZDpwbGFudGVk"}}}`,
		"cGxhbnRlZCBkYXRh":                                     `{"apiVersion":"v1","data":{"x":"cGxhbnRlZCBkYXRh"},"kind":"Secret"}`,
		"cGxhbnRlZCB5YW1s":                                     "data:\n  x: cGxhbnRlZCB5YW1s\nkind: Secret\n",
		"planted-in-environment":                               "HOME=/root\nDB_PASSWORD=planted-in-environment\n",
		"planted-in-pod":                                       `{"env":[{"name":"WANDB_API_KEY","value":"planted-in-pod"}]}`,
		"planted-in-url":                                       "pull https://me:planted-in-url@nvcr.io/v2",
	}
}

// commandOf is a command line with text in it; manifests of several lines are in none.
func commandOf(text string) string {
	if strings.Contains(text, "kind: Secret") {
		return "kubectl apply -f -"
	}
	return "run " + text
}

// leaky observes what holds secrets, in every part of an observation.
type leaky struct{ counter }

func (l leaky) Observe(ctx context.Context, rec check.Recorder) error {
	for _, text := range planted() {
		o, err := check.Observation{
			Kind: "reading", Target: "host", Command: commandOf(text), Raw: []byte("output\n" + text + "\n"),
		}.WithFigures(map[string]any{"value": 1, "text": text})
		if err != nil {
			return err
		}
		if kept, err := rec.Record(o); err != nil || strings.Contains(string(kept.Raw)+string(kept.Figures)+kept.Command, text) {
			return fmt.Errorf("handed back as it was, %w", err)
		}
		if _, err := rec.Record(check.Observation{Kind: "failed", Target: text, Command: "x", Err: "refused: " + text}); err != nil {
			return err
		}
	}
	return fmt.Errorf("and at last %s", "Authorization: Bearer eyJhbGciOiJSUzI1NiIs.eyJzdWIiOiJwbGFudGVk.UGxhbnRlZA")
}

func (l leaky) Judge(obs []check.Observation) check.Judgement {
	var all []string
	for _, o := range obs {
		all = append(all, o.Err, string(o.Raw), string(o.Figures))
	}
	return check.Fail(strings.Join(all, "\n"))
}

// leakyPreparation has secrets on its command line.
type leakyPreparation struct{}

func (leakyPreparation) Name() string {
	return "helm upgrade x --set auth.password=planted-in-preparation --password planted-in-preparation"
}

func (leakyPreparation) Run(context.Context, io.Writer, func(string)) (int, error) { return 0, nil }

// No planted secret is in any file of the run, nor in a run that verdicts are
// carried over to; the verdicts still replay.
func TestSecretsReachNoFileOfARun(t *testing.T) {
	t.Parallel()
	p := plan.Plan{Name: "playbook", Steps: []plan.Step{{Check: leaky{counter{name: "a"}}, Prepare: []plan.Prepare{leakyPreparation{}}}}}
	s := testStart(p)
	s.Site = []byte("prepare:\n- gate: a\n  command: [helm, --password=planted-in-command, --token, planted-in-list]\nreach:\n  prometheus: {url: 'https://prom/?access_token=planted-in-site-url'}\n")
	s.Inputs = map[string][]byte{"demands.json": []byte(`{"env":[{"name":"HF_TOKEN","value":"planted-in-input"}]}`)}
	s.Recipe = []byte("values:\n  db:\n    password: planted-in-recipe\n")
	s.Header.Command = []string{"firstlight", "--token", "planted-argument", "--password=planted-argument"}
	r, err := Create(t.TempDir(), s, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Amend(func(h *Header) { h.SimulatedWhy = "asked https://me:planted-in-url@host" }); err != nil {
		t.Fatal(err)
	}
	out := execute(t, r, plan.Executor{Plan: p})
	out.Notes = append(out.Notes, "clean up: https://me:planted-in-url@host refused")
	if err := r.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	secrets := planted()
	for _, secret := range []string{
		"planted-argument", "planted-in-recipe", "planted-in-command", "planted-in-list", "planted-in-site-url", "planted-in-input", "planted-in-preparation",
	} {
		secrets[secret] = ""
	}
	files := filesOf(t, r.Dir())
	if len(files) < 10+3*len(planted()) {
		t.Fatalf("only %d files", len(files))
	}
	marks := 0
	for _, name := range files {
		if info, err := os.Stat(filepath.Join(r.Dir(), name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if info, err := os.Stat(filepath.Dir(filepath.Join(r.Dir(), name))); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("directory of %s: %v, %v", name, info.Mode(), err)
		}
		data, err := os.ReadFile(filepath.Join(r.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		marks += bytes.Count(data, []byte("[redacted: "))
		for secret := range secrets {
			if bytes.Contains(data, []byte(secret)) || strings.Contains(name, secret) {
				t.Errorf("%s is in %s", secret, name)
			}
		}
	}
	if marks < 4*len(planted()) {
		t.Errorf("only %d marks", marks)
	}
	replayed, err := Replay(r.Dir(), func(*Bundle) (Derived, error) {
		return Derived{Checks: []check.Check{leaky{counter{name: "a"}}}}, nil
	})
	if err != nil || !replayed.Identical() {
		t.Errorf("replay %+v, %v", replayed, err)
	}
}
