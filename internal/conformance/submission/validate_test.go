package submission

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/diag"
)

// broken is one thing done to a submission that is valid, and what has to be said
// of it: these rules and no other, once each.
type broken struct {
	name string
	// old becomes new in PRODUCT.yaml, at its first place.
	old, new string
	// do is done to the directory, and may answer another one.
	do  func(t *testing.T, dir string) string
	web func(*web)
	// want is rule: part of the message or of the remedy.
	want []string
}

// shareOf begins the entry of gpu_sharing, a SHOULD.
const (
	shareStatus = "status: \"Implemented\"\n      evidence:\n        - \"gpu_sharing.md\"\n        - \"junit.xml\"\n      notes: \"both halves were seen.\""
	inference   = "evidence:\n        - \"ai_inference.md\"\n        - \"junit.xml\""
)

func share(status, evidence, notes string) string {
	return fmt.Sprintf("status: %q\n      evidence: %s\n      notes: %q", status, evidence, notes)
}

func evidenceOf(link string) string { return fmt.Sprintf("evidence:\n        - %q", link) }

func cases() []broken {
	return slices.Concat(metadataCases(), requirementCases(), statusCases(), linkCases(), directoryCases())
}

func metadataCases() []broken {
	key := func(name, old, becomes string, want ...string) broken {
		return broken{name: name, old: old, new: becomes, want: want}
	}
	return []broken{
		key("a key is missing", "  platformName: \"Turbo Encabulator\"\n", "", `metadata-missing: the key "platformName" is missing`),
		key("a key is empty", `"Turbo Encabulator"`, `" "`, "metadata-missing: platformName is empty"),
		key("a key is null", `"Turbo Encabulator"`, "", "metadata-missing: platformName is empty"),
		key("a placeholder", `"Turbo Encabulator"`, `"[Platform Name]"`, "placeholder: platformName is still [Platform Name]"),
		key("a placeholder that is an address", `"https://github.com/cncf/k8s-conformance/tree/master/v1.36/turbo"`, `"[URL to k8s-conformance]"`, "placeholder: k8sConformanceUrl is still"),
		key("a number", `"1.20"`, "1.20", `metadata-text: write "1.20"`),
		key("a list", `"Turbo Encabulator"`, "[a, b]", "wrong-type: a text is wanted, this is a list", "metadata-missing: platformName is empty"),
		key("an unknown key", "  platformName:", "  plattformName: x\n  platformName:", `unknown-key: did you mean "platformName"?`),
		key("both spellings", "  platformName:", "  platform_name: x\n  platformName:", "metadata-twice: platform_name is there as platformName, too"),
		key("a key twice", "  platformName:", "  platformName: x\n  platformName:", "duplicate-key: for the second time"),
		key("the other version", `"v1.36"`, `"v1.35"`, "kubernetes-version: kubernetesVersion is v1.35, and this is a submission for v1.36"),
		key("a version that begins alike", `"v1.36"`, `"v1.360"`, "kubernetes-version: v1.360"),
		key("a logo of pixels", "turbo.svg", "turbo.png", "logo-format: turbo.png"),
		key("an address without a scheme", `"https://yoyo.example/turbo/docs"`, `"yoyo.example/turbo/docs"`, "not-an-address: documentationUrl is"),
		key("no Kubernetes conformance", "https://github.com/cncf/k8s-conformance/tree/master/v1.36/turbo", "https://github.com/cncf/k8s-conformance", "k8s-conformance-url: k8sConformanceUrl is"),
		key("a Kubernetes conformance elsewhere", "https://github.com/cncf/k8s-conformance/tree/master", "https://github.com/yoyo/k8s-conformance/tree/master", "k8s-conformance-url: yoyo/k8s-conformance"),
		key("no member", `"Yoyodyne"`, `"Yoyodine"`, `member: did you mean "Yoyodyne"?`),
		key("an item of the landscape that is no member", `"Yoyodyne"`, `"Turbo"`, `member: "Turbo" is no member`),
		key("no metadata", "metadata:", "metadaten:", "unknown-key: metadaten", `missing: the key "metadata" is missing`),
	}
}

func requirementCases() []broken {
	key := func(name, old, becomes string, want ...string) broken {
		return broken{name: name, old: old, new: becomes, want: want}
	}
	return []broken{
		key("an edited description", "at least one gang scheduling solution", "one gang scheduling solution", `edited: the description of gang_scheduling is not the checklist's: it has "one" for "at"`),
		key("a shortened description", " To be conformant, the vendor must demonstrate that their platform can successfully run at least one such solution.", "", "edited: it ends before \"To\""),
		key("other spaces", "at least one gang scheduling solution", "at least one  gang scheduling solution", "edited: it has other spaces"),
		key("an edited level", "level: MUST", "level: SHOULD", `edited: the level of ai_inference is "SHOULD", and in the checklist MUST`),
		key("an edited id", "id: gang_scheduling", "id: gang_schedulin", "requirement-unknown: the checklist has gang_scheduling: ids are not edited", "requirement-missing: gang_scheduling of schedulingOrchestration is not there"),
		key("no id", "id: gang_scheduling", `id: ""`, "edited: an entry of schedulingOrchestration has no id", "requirement-missing: gang_scheduling"),
		key("a requirement of another version", "id: gpu_sharing", "id: dra_support", "requirement-unknown: remove it: it is one of 1.34, 1.35", "requirement-missing: gpu_sharing"),
		key("a requirement twice", "    - id: gpu_sharing", "    - id: driver_runtime_management\n    - id: gpu_sharing", "requirement-twice: driver_runtime_management is here for the second time"),
		key("a requirement in another category", "  operator:\n", "", "edited: robust_controller stands in security, and belongs to operator", "category-missing: the category operator is not there, with robust_controller"),
		key("an unknown category", "  operator:\n", "  operators:\n", `unknown-key: did you mean "operator"?`, "category-missing: operator"),
		key("an unknown key", "      level: MUST\n", "      level: MUST\n      lavel: MUST\n", `unknown-key: did you mean "level"?`),
		key("no spec", "spec:", "specs:", "unknown-key: specs", `missing: the key "spec" is missing`),
		key("the category is no list", "  operator:\n    - id", "  operator:\n    id", "syntax: "),
	}
}

func statusCases() []broken {
	open := func(name, status, evidence, notes string, want ...string) broken {
		return broken{name: name, old: shareStatus, new: share(status, evidence, notes), want: want}
	}
	must := strings.NewReplacer("gpu_sharing", "ai_inference").Replace(shareStatus)
	return []broken{
		open("a SHOULD may be left open", "", "[]", ""),
		open("a SHOULD that is not implemented", "Not Implemented", "[gpu_sharing.md]", ""),
		open("an unknown status", "Done", "[gpu_sharing.md]", "", `bad-status: the status of gpu_sharing is "Done"`),
		open("a status in other letters", "implemented", "[gpu_sharing.md]", "", `bad-status: "implemented"`),
		open("evidence without a status", "", "[gpu_sharing.md]", "", "bad-status: gpu_sharing has no status"),
		open("N/A without notes", "N/A", "[]", " ", "notes-missing: gpu_sharing is N/A"),
		open("N/A with notes", "N/A", "[]", "no such GPUs"),
		{name: "a MUST without a status", old: must, new: share("", "[]", ""), want: []string{"bad-status: ai_inference has no status"}},
		{name: "a MUST that is not implemented", old: must, new: share("Not Implemented", "[ai_inference.md]", ""), want: []string{"must-implemented: ai_inference is a MUST and is Not Implemented"}},
		{name: "a MUST in part", old: must, new: share("Partially Implemented", "[ai_inference.md]", ""), want: []string{"must-implemented: Partially Implemented"}},
		{name: "a MUST that is N/A", old: must, new: share("N/A", "[]", "there is no gateway"), want: []string{"must-implemented: ai_inference is a MUST and is N/A"}},
		{name: "a MUST without evidence", old: must, new: share("Implemented", "[]", ""), want: []string{"no-evidence: ai_inference is Implemented without evidence"}},
	}
}

func linkCases() []broken {
	link := func(name, to string, want ...string) broken {
		return broken{name: name, old: inference, new: evidenceOf(to), want: want}
	}
	return []broken{
		link("a file that is not there", "no.md", "evidence-file: evidence of ai_inference is no.md, which is not there"),
		link("a part of a file", "junit.xml#TestGateway", "evidence-file: write junit.xml: "),
		link("an empty link", " ", "evidence-file: a link of ai_inference is empty"),
		link("a file link", "file://v1.36/turbo/junit.xml#TestGateway", "file-link: evidence of ai_inference is file://"),
		link("a file link in other letters", "FILE:///etc/passwd", "file-link: FILE:///etc/passwd"),
		link("outside", "../../../etc/passwd", "evidence-outside: ../../../etc/passwd"),
		link("outside and back", "../turbo/junit.xml", "evidence-outside: ../turbo/junit.xml"),
		link("absolute", "/etc/passwd", "evidence-outside: /etc/passwd"),
		link("another scheme", "ftp://yoyo.example/x", "not-an-address: ftp://yoyo.example/x"),
		link("no host", "https:///x", "not-an-address: https:///x"),
		{
			name: "an empty file", want: []string{"evidence-file: ai_inference.md, which is empty"},
			do: func(t *testing.T, dir string) string { return putFile(t, dir, "ai_inference.md", "") },
		},
		{
			name: "a link out of the directory", want: []string{"evidence-outside: ai_inference.md, a link that leads out"},
			do: func(t *testing.T, dir string) string {
				t.Helper()
				putFile(t, filepath.Dir(dir), "elsewhere.md", "x")
				name := filepath.Join(dir, "ai_inference.md")
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("../elsewhere.md", name); err != nil {
					t.Fatal(err)
				}
				return dir
			},
		},
		{
			name: "a directory with evidence", old: inference, new: evidenceOf("more"),
			do: func(t *testing.T, dir string) string { return putFile(t, dir, "more/x.md", "x") },
		},
		{
			name: "a directory without any", old: inference, new: evidenceOf("more"), want: []string{"evidence-file: in which there is nothing"},
			do: func(t *testing.T, dir string) string {
				t.Helper()
				if err := os.Mkdir(filepath.Join(dir, "more"), 0o750); err != nil {
					t.Fatal(err)
				}
				return dir
			},
		},
		{
			name: "evidence of a draft", want: []string{"draft: evidence of ai_inference, ai_inference.md, is from a draft"},
			do: func(t *testing.T, dir string) string {
				return putFile(t, dir, "ai_inference.md", "> "+draftMark+"\n")
			},
		},
		{
			name: "evidence from simulated hardware", want: []string{"draft: evidence of ai_inference, ai_inference.md, is from simulated hardware"},
			do: func(t *testing.T, dir string) string {
				return putFile(t, dir, "ai_inference.md", "# ai_inference\n\n- hardware: simulated: kwok\n")
			},
		},
		{
			name: "an address that is gone", want: []string{"url-unreachable: evidence of gang_scheduling: https://yoyo.example/turbo/docs/gangs: it answers 404 Not Found"},
			web: func(w *web) {
				w.status["HEAD https://yoyo.example/turbo/docs/gangs"], w.status["GET https://yoyo.example/turbo/docs/gangs"] = 404, 404
			},
		},
		{
			name: "an address that answers GET alone",
			web:  func(w *web) { w.status["HEAD https://yoyo.example/turbo/docs/gangs"] = 405 },
		},
		{
			name: "an address that has had enough",
			web: func(w *web) {
				w.status["HEAD https://yoyo.example/turbo/docs/gangs"], w.status["GET https://yoyo.example/turbo/docs/gangs"] = 429, 429
			},
		},
		{
			name: "an address of the metadata", want: []string{"url-unreachable: websiteUrl: https://yoyo.example/turbo: no route to host"},
			web: func(w *web) { w.broken["https://yoyo.example/turbo"] = true },
		},
	}
}

func directoryCases() []broken {
	moved := func(to string) func(*testing.T, string) string {
		return func(t *testing.T, dir string) string {
			t.Helper()
			now := filepath.Join(filepath.Dir(filepath.Dir(dir)), filepath.FromSlash(to))
			if err := os.MkdirAll(filepath.Dir(now), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(dir, now); err != nil {
				t.Fatal(err)
			}
			return now
		}
	}
	return []broken{
		{name: "not in a version's directory", do: moved("somewhere/turbo"), want: []string{"layout: the directory turbo is in somewhere, which is no version's"}},
		{name: "a version without a checklist", do: moved("v1.99/turbo"), want: []string{"layout: there are 1.34, 1.35, 1.36, 1.37"}},
		{
			name: "no PRODUCT.yaml", want: []string{"unreadable: PRODUCT.yaml"},
			do: func(t *testing.T, dir string) string {
				t.Helper()
				if err := os.Remove(filepath.Join(dir, productFile)); err != nil {
					t.Fatal(err)
				}
				return dir
			},
		},
		{
			name: "a draft", want: []string{"draft: the submission is a draft"},
			do: func(t *testing.T, dir string) string { return putFile(t, dir, draftFile, "x") },
		},
		{name: "a draft without its file", old: "metadata:", new: "# " + draftMark + "\nmetadata:", want: []string{"draft: the submission is a draft"}},
		{name: "two documents", old: "metadata:", new: "{}\n---\nmetadata:", want: []string{"document: there is a second document"}},
		{name: "no YAML", old: "metadata:", new: "metadata: [", want: []string{"syntax: "}},
	}
}

func putFile(tb testing.TB, dir, name, content string) string {
	tb.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func TestEachViolationIsNamedAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, tt := range cases() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := written(t, compose(t, wholeRun(t), false))
			if tt.old != "" {
				text, err := os.ReadFile(filepath.Join(dir, productFile))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(text), tt.old) {
					t.Fatalf("there is no %q", tt.old)
				}
				putFile(t, dir, productFile, strings.Replace(string(text), tt.old, tt.new, 1))
			}
			if tt.do != nil {
				dir = tt.do(t, dir)
			}
			w := aWeb()
			if tt.web != nil {
				tt.web(w)
			}
			report, err := Validate(t.Context(), dir, Options{Client: w})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, tt.want, report.Problems)
		})
	}
}

// compare wants exactly the rules, each with its words, a place and a remedy.
func compare(t *testing.T, want []string, got diag.List) {
	t.Helper()
	left := slices.Clone(got)
	for _, w := range want {
		rule, words, _ := strings.Cut(w, ": ")
		i := slices.IndexFunc(left, func(p diag.Problem) bool {
			return p.Rule == rule && strings.Contains(p.Message+"\n"+p.Remedy, words)
		})
		if i < 0 {
			t.Errorf("not said: %s", w)
			continue
		}
		if left[i].File == "" || left[i].Remedy == "" {
			t.Errorf("no place or no remedy: %+v", left[i])
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, p := range left {
		t.Errorf("said too: %s (%s)", p, p.Remedy)
	}
}

func TestEveryRuleHasACase(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range cases() {
		for _, w := range c.want {
			rule, _, _ := strings.Cut(w, ": ")
			seen[rule] = true
		}
	}
	known := map[string]bool{}
	for _, r := range Rules() {
		if r.Summary == "" || r.Remedy == "" || known[r.Name] {
			t.Errorf("%+v is there twice, or says nothing", r)
		}
		known[r.Name] = true
		if !seen[r.Name] {
			t.Errorf("no submission in the table breaks the rule %s", r.Name)
		}
	}
}

// TestASHOULDWithoutEvidence is let pass by the programme: it is said, no more.
func TestASHOULDWithoutEvidence(t *testing.T) {
	t.Parallel()
	dir := written(t, compose(t, wholeRun(t), false))
	text, err := os.ReadFile(filepath.Join(dir, productFile))
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, productFile, strings.Replace(string(text), shareStatus, share("Implemented", "[]", ""), 1))
	report, err := Validate(t.Context(), dir, Options{Client: aWeb()})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Valid() || len(report.Problems) != 1 || report.Problems[0].Rule != ruleNoEvidence.Name || report.Problems[0].Severity != diag.Warning {
		t.Errorf("%v", report.Problems)
	}
}

func TestPlacesAreThoseOfTheValues(t *testing.T) {
	t.Parallel()
	dir := written(t, compose(t, wholeRun(t), false))
	text, err := os.ReadFile(filepath.Join(dir, productFile))
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, productFile, strings.NewReplacer("turbo.svg", "turbo.gif", "id: gpu_sharing\n", "id: gpu_shoring\n", "\"junit.xml\"\n      notes: \"both halves were seen.\"\n  schedulingOrchestration", "\"gone.xml\"\n      notes: \"\"\n  schedulingOrchestration").Replace(string(text)))
	report, err := Validate(t.Context(), dir, Options{Client: aWeb()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range report.Problems {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", filepath.Base(p.File), p.Line, p.Column, p.Rule))
	}
	want := []string{"PRODUCT.yaml:10:19 logo-format", "PRODUCT.yaml:15:3 requirement-missing", "PRODUCT.yaml:24:11 requirement-unknown", "PRODUCT.yaml:71:11 evidence-file"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOfflineSaysWhatNobodyAsked(t *testing.T) {
	t.Parallel()
	dir := written(t, compose(t, wholeRun(t), false))
	report, err := Validate(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range report.Unchecked {
		got = append(got, u.What)
	}
	want := []string{
		"websiteUrl: https://yoyo.example/turbo", "repoUrl: https://github.example/yoyo/turbo", "documentationUrl: https://yoyo.example/turbo/docs",
		"productLogoUrl: https://yoyo.example/turbo.svg", "k8sConformanceUrl: https://github.com/cncf/k8s-conformance/tree/master/v1.36/turbo",
		"evidence of gang_scheduling: https://yoyo.example/turbo/docs/gangs", "whether Yoyodyne is a member of the CNCF",
	}
	if diff := cmp.Diff(want, got); diff != "" || !report.Valid() {
		t.Error(diff, report.Problems)
	}
}

func TestALandscapeThatCanNotBeHadIsUnchecked(t *testing.T) {
	t.Parallel()
	dir := written(t, compose(t, wholeRun(t), false))
	for name, change := range map[string]func(*web){
		"gone":       func(w *web) { w.status["GET "+landscape] = 503 },
		"broken":     func(w *web) { w.broken[landscape] = true },
		"no YAML":    func(w *web) { w.body[landscape] = "a: [" },
		"no members": func(w *web) { w.body[landscape] = "landscape: []" },
	} {
		w := aWeb()
		change(w)
		report, err := Validate(t.Context(), dir, Options{Client: w})
		if err != nil {
			t.Fatal(err)
		}
		if !report.Valid() || len(report.Unchecked) != 1 || !strings.Contains(report.Unchecked[0].What, "Yoyodyne is a member") {
			t.Errorf("%s: %+v %v", name, report.Unchecked, report.Problems)
		}
	}
}

func TestEveryAddressIsAskedOnce(t *testing.T) {
	t.Parallel()
	w := aWeb()
	dir := written(t, compose(t, wholeRun(t), false))
	text, err := os.ReadFile(filepath.Join(dir, productFile))
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, productFile, strings.ReplaceAll(string(text), "https://yoyo.example/turbo/docs/gangs", "https://yoyo.example/turbo"))
	if _, err := Validate(t.Context(), dir, Options{Client: w}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(w.asked)
	want := []string{
		"GET " + landscape, "HEAD https://github.com/cncf/k8s-conformance/tree/master/v1.36/turbo", "HEAD https://github.example/yoyo/turbo",
		"HEAD https://yoyo.example/turbo", "HEAD https://yoyo.example/turbo.svg", "HEAD https://yoyo.example/turbo/docs",
	}
	if diff := cmp.Diff(want, w.asked); diff != "" {
		t.Error(diff)
	}
}

func TestAnEndedContextIsNoVerdict(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Validate(ctx, written(t, compose(t, wholeRun(t), false)), Options{Client: aWeb()}); err == nil {
		t.Error("there is a report")
	}
}

func TestBothSpellingsOfMetadata(t *testing.T) {
	t.Parallel()
	dir := written(t, compose(t, wholeRun(t), false))
	text, err := os.ReadFile(filepath.Join(dir, productFile))
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, productFile, strings.NewReplacer("productLogoUrl:", "product_logo_url:", "k8sConformanceUrl:", "k8s_conformance_url:").Replace(string(text)))
	report, err := Validate(t.Context(), dir, Options{Client: aWeb()})
	if err != nil || !report.Valid() {
		t.Errorf("%v %v", err, report.Problems)
	}
}

func TestNoDirectory(t *testing.T) {
	t.Parallel()
	if _, err := Validate(t.Context(), filepath.Join(t.TempDir(), "no"), Options{}); err == nil {
		t.Error("there is a report")
	}
}
