package docs_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/site"
)

// sitePart is a part of a site file that a page shows.
type sitePart struct {
	// line is that of the first line of text in the page.
	line int
	text string
}

// siteKeys are the keys at the top of a site file, without those that other files have as well.
func siteKeys() []string {
	var out []string
	for field := range reflect.TypeFor[site.Site]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if !slices.Contains([]string{"apiVersion", "kind", "name"}, key) {
			out = append(out, key)
		}
	}
	return out
}

// siteParts are the blocks of a page that begin with a key of a site file. An output of site detect, with its
// TODOs, is not among them.
func siteParts(p page) []sitePart {
	var out []sitePart
	for _, b := range blocks(p.text) {
		text := strings.Join(b.lines, "\n") + "\n"
		key, _, found := strings.Cut(b.first(), ":")
		switch {
		case !found || b.fenced && b.lang != "yaml" || strings.Contains(text, "# TODO: "):
		case slices.Contains(siteKeys(), key):
			out = append(out, sitePart{b.line, text})
		case p.path == "docs/ssh.md" && strings.HasPrefix(text, "    "): // the page shows keys of reach.ssh alone
			out = append(out, sitePart{b.line - 2, "reach:\n  ssh:\n" + text})
		}
	}
	return out
}

// first is the first line of a block that is not a comment.
func (b block) first() string {
	for _, line := range b.lines {
		if !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return ""
}

// siteBases are the site files to which the parts are added: one that has the hardware and the nodes of a part.
func siteBases(t *testing.T) [][]byte {
	t.Helper()
	with := func(pairs ...string) []byte {
		text := string(site.Example())
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("the example has no %q", pairs[i])
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return []byte(text)
	}
	const profile, last = "profile: h100-sxm-ndr400\n", `    - {name: gpu-04, address: "gpu-04.example.com:22", rack: r2}` + "\n"
	const more = last + "    - {name: gpu-05}\n    - {name: gpu-06}\n    - {name: gpu-07}\n    - {name: gpu-08}\n"
	return [][]byte{
		with(),
		with(last, more),
		with(profile, "profile: h100-sxm-roce400\n"),
		with(profile, "profile: gb200-nvl72-ndr400\n"), // 4 HCAs a node, and NVLink between nodes
		// without the keys that exclude others
		with("    identityFile: secrets/id_ed25519 ", "    #", "    service: monitoring/prometheus-k8s:9090\n", "", "    service: monitoring/alertmanager-main:9093\n", ""),
	}
}

// problemsOn are the problems of a part in the site file where it has the fewest, with their lines in the page: unknown
// keys, and values that are invalid in each of the files.
func problemsOn(bases [][]byte, p sitePart) []site.Problem {
	text := []byte(strings.Repeat("\n", p.line-1) + p.text)
	var least []site.Problem
	for i, base := range bases {
		found := problemsIn(base, text)
		if len(found) == 0 {
			return nil
		}
		if i == 0 || len(found) < len(least) {
			least = found
		}
	}
	return least
}

func problemsIn(base, part []byte) []site.Problem {
	merged, err := site.Over(base, "part", part)
	if invalid, ok := errors.AsType[*site.InvalidError](err); ok {
		return invalid.Problems // with lines of the part
	}
	if err != nil {
		return []site.Problem{{Message: err.Error()}}
	}
	_, err = site.Parse("part", merged)
	invalid, ok := errors.AsType[*site.InvalidError](err)
	if !ok {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(part, &root); err != nil {
		return []site.Problem{{Message: err.Error()}}
	}
	var out []site.Problem
	for _, problem := range invalid.Problems {
		path, _, _ := strings.Cut(problem.Message, ": ")
		if line := lineIn(&root, path, false, 0); line > 0 {
			out = append(out, site.Problem{Line: line, Message: problem.Message})
		}
	}
	return out
}

// lineIn is the line of a path such as "prepare.0.helm.version" below a node; 0 if the part does not have it, unless an
// item of a list lacks it: blocks of keys are merged with those of the file around the part, and lists are not.
func lineIn(node *yaml.Node, path string, inList bool, line int) int {
	if path == "" {
		return line
	}
	switch node.Kind {
	case yaml.DocumentNode:
		return lineIn(node.Content[0], path, false, 0)
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if rest, ok := below(path, node.Content[i].Value); ok {
				return lineIn(node.Content[i+1], rest, inList, node.Content[i].Line)
			}
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			if rest, ok := below(path, strconv.Itoa(i)); ok {
				return lineIn(item, rest, true, item.Line)
			}
		}
	default:
	}
	if inList {
		return line
	}
	return 0
}

// below is a path without its first key; false if it begins with another one.
func below(path, key string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path+".", key+".")
	return strings.TrimSuffix(rest, "."), ok
}

// TestSiteParts: the parts of site files that the pages show have known keys and valid values.
func TestSiteParts(t *testing.T) {
	t.Parallel()
	bases, seen := siteBases(t), 0
	for _, p := range pages(t) {
		for _, part := range siteParts(p) {
			seen++
			for _, problem := range problemsOn(bases, part) {
				t.Errorf("%s:%d: %s", p.path, problem.Line, problem.Message)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d parts of site files were found in the pages: the search is broken", seen)
	}
}

func TestWrongSitePartIsFound(t *testing.T) {
	t.Parallel()
	bases := siteBases(t)
	for name, tt := range map[string]struct{ path, text, want string }{
		"right":                      {"docs/a.md", "```yaml\ngpustack:\n  jobKind: mpijob\n```\n", ""},
		"right with another fabric":  {"docs/a.md", "    fabric:\n      roce: {priority: 3}\n", ""},
		"right with other keys":      {"docs/a.md", "    reach:\n      prometheus: {url: https://prometheus.example.com}\n", ""},
		"unknown key":                {"docs/a.md", "# A\n\n```yaml\ngpustack:\n  queues: a\n```\n", `5: unknown key "queues"`},
		"unknown key, indented":      {"docs/a.md", "- item\n\n      workloads:\n        collective:\n          suit: [sendrecv]\n", `5: unknown key "suit"`},
		"unknown value":              {"docs/a.md", "```yaml\n# of gate 4\ngpustack:\n  queue: a\n  jobKind: pod\n```\n", `5: gpustack.jobKind: "pod" is not one of`},
		"unknown value on no fabric": {"docs/a.md", "```yaml\nfabric:\n  roce: {priority: 9}\n```\n", "3: fabric.roce"},
		"item without a key":         {"docs/a.md", "```yaml\nprepare:\n  - gate: node\n```\n", "3: prepare.0: needs exactly one of"},
		"wrong type":                 {"docs/a.md", "```yaml\ninventory:\n  nodes: gpu-01\n```\n", "3: "},
		"keys of reach.ssh":          {"docs/ssh.md", "# A\n\n```yaml\n    identityFil: a\n```\n", `4: unknown key "identityFil"`},
		"another file":               {"docs/a.md", "```yaml\napiVersion: v1\nkind: Pod\nspec: {}\n```\n", ""},
		"an output of site detect":   {"docs/a.md", "    profile: \"\"  # TODO: one of a, b\n", ""},
		"a message":                  {"docs/a.md", "    prod.yaml:9: spine: unknown\n", ""},
	} {
		var got []string
		for _, part := range siteParts(page{path: tt.path, text: tt.text}) {
			for _, problem := range problemsOn(bases, part) {
				got = append(got, fmt.Sprintf("%d: %s", problem.Line, problem.Message))
			}
		}
		if tt.want == "" && len(got) > 0 || !strings.HasPrefix(strings.Join(got, "\n"), tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
