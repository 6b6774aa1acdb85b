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

// broken is one change of a valid submission, with the expected problems: these rules and no
// other, once each.
type broken struct {
	name string
	// The first old in PRODUCT.yaml becomes new.
	old, new string
	// do changes the directory, and returns it or its new path.
	do  func(t *testing.T, dir string) string
	web func(*web)
	// want has "rule: part of the message or of the remedy" for each problem.
	want []string
}

// Parts of the entries of gpu_sharing, a SHOULD, and ai_inference, a MUST.
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
		key("a placeholder", `"Turbo Encabulator"`, `"[Platform Name]"`, "placeholder: platformName is still the placeholder [Platform Name]"),
		key("a placeholder that is an address", `"https://github.com/cncf/k8s-conformance/tree/master/v1.36/turbo"`, `"[URL to k8s-conformance]"`, "placeholder: k8sConformanceUrl is still the placeholder"),
		key("a number", `"1.20"`, "1.20", `metadata-text: write "1.20"`),
		key("a list", `"Turbo Encabulator"`, "[a, b]", "wrong-type: must be a string, not a list", "metadata-missing: platformName is empty"),
		key("an unknown key", "  platformName:", "  plattformName: x\n  platformName:", `unknown-key: did you mean "platformName"?`),
		key("both spellings", "  platformName:", "  platform_name: x\n  platformName:", "metadata-twice: platform_name is also written as platformName"),
		key("a key twice", "  platformName:", "  platformName: x\n  platformName:", `duplicate-key: duplicate key "platformName", first at line 4`),
		key("the other version", `"v1.36"`, `"v1.35"`, "kubernetes-version: kubernetesVersion is v1.35, and the submission is for v1.36"),
		key("a version with the same prefix", `"v1.36"`, `"v1.360"`, "kubernetes-version: v1.360"),
		key("a bitmap logo", "turbo.svg", "turbo.png", "logo-format: turbo.png"),
		key("an address without a scheme", `"https://yoyo.example/turbo/docs"`, `"yoyo.example/turbo/docs"`, "not-an-address: invalid documentationUrl"),
		key("no Kubernetes conformance", "https://github.com/cncf/k8s-conformance/tree/master/v1.36/turbo", "https://github.com/cncf/k8s-conformance", "k8s-conformance-url: k8sConformanceUrl is"),
		key("a Kubernetes conformance elsewhere", "https://github.com/cncf/k8s-conformance/tree/master", "https://github.com/yoyo/k8s-conformance/tree/master", "k8s-conformance-url: yoyo/k8s-conformance"),
		key("an unknown member", `"Yoyodyne"`, `"Yoyodine"`, `member: did you mean "Yoyodyne"?`),
		key("a project of the landscape", `"Yoyodyne"`, `"Turbo"`, `member: "Turbo" is not a member`),
		key("no metadata", "metadata:", "metadaten:", "unknown-key: metadaten", `missing: the key "metadata" is missing`),
	}
}

func requirementCases() []broken {
	key := func(name, old, becomes string, want ...string) broken {
		return broken{name: name, old: old, new: becomes, want: want}
	}
	return []broken{
		key("an edited description", "at least one gang scheduling solution", "one gang scheduling solution", `edited: the description of gang_scheduling differs from the checklist: it has "one" in place of "at"`),
		key("a shortened description", " To be conformant, the vendor must demonstrate that their platform can successfully run at least one such solution.", "", "edited: it ends before \"To\""),
		key("different spaces", "at least one gang scheduling solution", "at least one  gang scheduling solution", "edited: its spaces differ"),
		key("an edited level", "level: MUST", "level: SHOULD", `edited: the level of ai_inference is "SHOULD": must be MUST, as in the checklist`),
		key("an edited id", "id: gang_scheduling", "id: gang_schedulin", "requirement-unknown: write gang_scheduling: ids must not be edited", "requirement-missing: requirement gang_scheduling of category schedulingOrchestration is missing"),
		key("no id", "id: gang_scheduling", `id: ""`, "edited: an entry of schedulingOrchestration has no id", "requirement-missing: gang_scheduling"),
		key("a requirement of another version", "id: gpu_sharing", "id: dra_support", "requirement-unknown: remove it: it is a requirement of 1.34, 1.35", "requirement-missing: gpu_sharing"),
		key("a duplicate requirement", "    - id: gpu_sharing", "    - id: driver_runtime_management\n    - id: gpu_sharing", "requirement-twice: duplicate requirement driver_runtime_management"),
		key("a requirement in another category", "  operator:\n", "", "edited: robust_controller is in category security, and must be in operator", "category-missing: category operator is missing, with robust_controller"),
		key("an unknown category", "  operator:\n", "  operators:\n", `unknown-key: did you mean "operator"?`, "category-missing: operator"),
		key("an unknown key", "      level: MUST\n", "      level: MUST\n      lavel: MUST\n", `unknown-key: did you mean "level"?`),
		key("no spec", "spec:", "specs:", "unknown-key: specs", `missing: the key "spec" is missing`),
		key("a category that must be a list", "  operator:\n    - id", "  operator:\n    id", "syntax: "),
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
		open("a status in lower case", "implemented", "[gpu_sharing.md]", "", `bad-status: "implemented"`),
		open("evidence without a status", "", "[gpu_sharing.md]", "", "bad-status: gpu_sharing has no status"),
		open("N/A without notes", "N/A", "[]", " ", "notes-missing: gpu_sharing is N/A"),
		open("N/A with notes", "N/A", "[]", "no such GPUs"),
		{name: "a MUST without a status", old: must, new: share("", "[]", ""), want: []string{"bad-status: ai_inference has no status"}},
		{name: "a MUST that is not implemented", old: must, new: share("Not Implemented", "[ai_inference.md]", ""), want: []string{"must-implemented: ai_inference is a MUST and is Not Implemented"}},
		{name: "a MUST in part", old: must, new: share("Partially Implemented", "[ai_inference.md]", ""), want: []string{"must-implemented: Partially Implemented"}},
		{name: "a MUST that is N/A", old: must, new: share("N/A", "[]", "the platform has no gateway"), want: []string{"must-implemented: ai_inference is a MUST and is N/A"}},
		{name: "a MUST without evidence", old: must, new: share("Implemented", "[]", ""), want: []string{"no-evidence: ai_inference is Implemented without evidence"}},
	}
}

func linkCases() []broken {
	link := func(name, to string, want ...string) broken {
		return broken{name: name, old: inference, new: evidenceOf(to), want: want}
	}
	return []broken{
		link("a missing file", "no.md", "evidence-file: evidence of ai_inference not found: no.md"),
		link("a part of a file", "junit.xml#TestGateway", "evidence-file: write junit.xml: "),
		link("an empty link", " ", "evidence-file: a link of ai_inference is empty"),
		link("a file link", "file://v1.36/turbo/junit.xml#TestGateway", "file-link: evidence of ai_inference is file://"),
		link("a file link in upper case", "FILE:///etc/passwd", "file-link: FILE:///etc/passwd"),
		link("outside", "../../../etc/passwd", "evidence-outside: ../../../etc/passwd"),
		link("outside and back", "../turbo/junit.xml", "evidence-outside: ../turbo/junit.xml"),
		link("absolute", "/etc/passwd", "evidence-outside: /etc/passwd"),
		link("another scheme", "ftp://yoyo.example/x", "not-an-address: ftp://yoyo.example/x"),
		link("no host", "https:///x", "not-an-address: https:///x"),
		{
			name: "an empty file", want: []string{"evidence-file: ai_inference.md, an empty file"},
			do: func(t *testing.T, dir string) string { return putFile(t, dir, "ai_inference.md", "") },
		},
		{
			name: "a symbolic link out of the directory", want: []string{"evidence-outside: ai_inference.md, a symbolic link to a target outside"},
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
			name: "an empty directory", old: inference, new: evidenceOf("more"), want: []string{"evidence-file: evidence of ai_inference is more, an empty directory"},
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
			name: "an address with 404", want: []string{"url-unreachable: evidence of gang_scheduling: https://yoyo.example/turbo/docs/gangs: status 404 Not Found"},
			web: func(w *web) {
				w.status["HEAD https://yoyo.example/turbo/docs/gangs"], w.status["GET https://yoyo.example/turbo/docs/gangs"] = 404, 404
			},
		},
		{
			name: "an address that refuses HEAD",
			web:  func(w *web) { w.status["HEAD https://yoyo.example/turbo/docs/gangs"] = 405 },
		},
		{
			name: "an address with 429",
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
		{name: "not in a version's directory", do: moved("somewhere/turbo"), want: []string{`layout: directory turbo is in "somewhere": must be in vX.Y`}},
		{name: "a version without a checklist", do: moved("v1.99/turbo"), want: []string{`layout: for version "1.99": want one of 1.34, 1.35, 1.36, 1.37`}},
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
		{name: "two documents", old: "metadata:", new: "{}\n---\nmetadata:", want: []string{"document: file has more than one document"}},
		{name: "invalid YAML", old: "metadata:", new: "metadata: [", want: []string{"syntax: "}},
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

func TestEachViolationIsReportedAlone(t *testing.T) {
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
					t.Fatalf("%q not found in PRODUCT.yaml", tt.old)
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

// compare fails unless got has exactly the wanted rules, each with its text, a position and a
// remedy.
func compare(t *testing.T, want []string, got diag.List) {
	t.Helper()
	left := slices.Clone(got)
	for _, w := range want {
		rule, text, _ := strings.Cut(w, ": ")
		i := slices.IndexFunc(left, func(p diag.Problem) bool {
			return p.Rule == rule && strings.Contains(p.Message+"\n"+p.Remedy, text)
		})
		if i < 0 {
			t.Errorf("missing problem: %s", w)
			continue
		}
		if left[i].File == "" || left[i].Remedy == "" {
			t.Errorf("no position or no remedy: %+v", left[i])
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, p := range left {
		t.Errorf("unexpected problem: %s (%s)", p, p.Remedy)
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
			t.Errorf("%+v is a duplicate, or has no summary or remedy", r)
		}
		known[r.Name] = true
		if !seen[r.Name] {
			t.Errorf("no submission in the table breaks the rule %s", r.Name)
		}
	}
}

// TestSHOULDWithoutEvidenceIsAWarning: the program accepts it.
func TestSHOULDWithoutEvidenceIsAWarning(t *testing.T) {
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

func TestPositionsOfProblems(t *testing.T) {
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

func TestOfflineListsUnchecked(t *testing.T) {
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

func TestUnreadableLandscapeIsUnchecked(t *testing.T) {
	t.Parallel()
	dir := written(t, compose(t, wholeRun(t), false))
	for name, change := range map[string]func(*web){
		"503":          func(w *web) { w.status["GET "+landscape] = 503 },
		"broken":       func(w *web) { w.broken[landscape] = true },
		"invalid YAML": func(w *web) { w.body[landscape] = "a: [" },
		"no members":   func(w *web) { w.body[landscape] = "landscape: []" },
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

func TestEveryAddressIsRequestedOnce(t *testing.T) {
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

func TestCancelledContextIsAnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Validate(ctx, written(t, compose(t, wholeRun(t), false)), Options{Client: aWeb()}); err == nil {
		t.Error("no error")
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

func TestMissingDirectory(t *testing.T) {
	t.Parallel()
	if _, err := Validate(t.Context(), filepath.Join(t.TempDir(), "no"), Options{}); err == nil {
		t.Error("no error")
	}
}
