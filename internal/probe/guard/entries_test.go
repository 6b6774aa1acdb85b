package guard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryParserIsGuarded finds every function that reads what a cluster or a
// host says, by its name, and demands the guard in it. A parser that panics in
// a goroutine ends the process, so the guard is where the parser is and not
// where it is called.
func TestEveryParserIsGuarded(t *testing.T) {
	t.Parallel()
	found, used := map[string]bool{}, map[string]bool{}
	for path, fn := range functions(t, "../..") {
		name := path + " " + fn.Name.Name
		if !reads(path, fn) {
			continue
		}
		if exempt := exemption(path, fn); exempt != "" {
			used[exempt] = true
			continue
		}
		found[name] = true
		if !guarded(fn) {
			t.Errorf("%s reads what others print and does not call guard.Parse", name)
		}
	}
	if len(found) < 80 {
		t.Errorf("only %d parsers were found", len(found))
	}
	for name := range handParsers {
		if !found[name] {
			t.Errorf("%s was not found", name)
		}
	}
	for name := range notInput {
		if !used[name] {
			t.Errorf("%s is exempt and was not found", name)
		}
	}
}

// TestProbesDecodeBehindTheGuard requires of the packages of probes that every function that decodes a document has the
// guard, or that all of its callers in the package have.
func TestProbesDecodeBehindTheGuard(t *testing.T) {
	t.Parallel()
	packages := map[string][]*ast.FuncDecl{}
	for path, fn := range functions(t, "..") {
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], fn)
	}
	found := 0
	for dir, all := range packages {
		for _, fn := range all {
			name := dir + " " + fn.Name.Name
			if !decodes(fn) || unguarded[name] != "" {
				continue
			}
			found++
			if !behindGuard(fn, all, nil) {
				t.Errorf("%s decodes what others print and is not behind guard.Parse", name)
			}
		}
	}
	if found < 25 {
		t.Errorf("only %d functions that decode were found", found)
	}
}

func TestUnguardedParsersAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"func ParseA(b []byte) { guard.Parse(\"a\", func() { parseA(b) }) }\nfunc parseA(b []byte) { json.Unmarshal(b, nil) }":                                 true,
		"func ParseA(b []byte) { parseA(b) }\nfunc parseA(b []byte) { json.Unmarshal(b, nil) }":                                                                false,
		"func ParseA(b []byte) { guard.Parse(\"a\", func() { parseA(b) }) }\nfunc B(b []byte) { parseA(b) }\nfunc parseA(b []byte) { json.Unmarshal(b, nil) }": false,
		"func parseA(b []byte) { json.Unmarshal(b, nil) }":                                                                                                     false,
		"func Read(b []byte) { guard.JSON(b, nil) }":                                                                                                           true,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\n"+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		var all []*ast.FuncDecl
		for _, d := range file.Decls {
			all = append(all, d.(*ast.FuncDecl)) // made above
		}
		good := true
		for _, fn := range all {
			good = good && (!decodes(fn) || behindGuard(fn, all, nil))
		}
		if good != want {
			t.Errorf("%s: %v, want %v", text, good, want)
		}
	}
}

// behindGuard reports that a function has the guard, or is called by functions that are behind it and by no others.
func behindGuard(fn *ast.FuncDecl, all, above []*ast.FuncDecl) bool {
	if guarded(fn) || fn.Name.Name == "UnmarshalJSON" { // called by a decoder
		return true
	}
	if fn.Recv == nil && fn.Name.IsExported() {
		return false
	}
	callers := 0
	for _, c := range all {
		if c == fn || slices.Contains(above, c) || !mentions(c, fn.Name.Name) {
			continue
		}
		callers++
		if !behindGuard(c, all, append(above, fn)) {
			return false
		}
	}
	return callers > 0
}

func mentions(fn *ast.FuncDecl, name string) bool {
	yes := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		yes = yes || ok && id.Name == name
		return !yes
	})
	return yes
}

// unguarded are functions of probes that decode outside the guard.
var unguarded = map[string]string{
	"guard JSON":           "the guard",
	"nvidia readDiagNames": "a file of the program itself",
}

// handParsers read what others print, and are not named Parse or are in a directory that is exempt.
var handParsers = map[string]bool{
	"reservation/hook/decode.go decode":              true,
	"gate/slurmjob/output.go parse":                  true,
	"gate/gpustack/dns.go readOnce":                  true,
	"conformance/recommended/sandbox.go parseKernel": true,
	"schedule/fanout/indexes.go parseIndexes":        true,
}

// notInput are functions that only look like parsers of what clusters and hosts print: of a directory, a file or one function.
var notInput = map[string]string{
	"accept/":                                "stored observations, decoded once before, and the program's own profile",
	"assertion/":                             "files that the user names",
	"capacity/":                              "files that the user names and stored observations",
	"certificate/":                           "files that the user names",
	"check/":                                 "stored observations, and words of the program itself",
	"checktest/":                             "of tests",
	"ci/":                                    "of CI",
	"cli/":                                   "arguments and files of the user, answers of the lab",
	"drift/":                                 "files of the program itself and of its runs",
	"e2e/":                                   "of tests",
	"evidence/":                              "files of runs: encoding/json and encoding/xml alone, fuzzed",
	"fuzzing/":                               "of tests",
	"impact/":                                "files that the user names and the output of git",
	"lab/":                                   "the lab's own files and programs",
	"mutants/":                               "of tests",
	"pipeline/":                              "a file of the program itself",
	"podpatch/":                              "the site's patches of the program's own pods",
	"profile/":                               "files that the user names",
	"proctree/":                              "the program's own child",
	"recipe/":                                "files of the recipe tree and of the charts that it pins",
	"reservation/":                           "files that the user names and the program's own objects; responses of hooks are behind decode",
	"schedule/flat.go":                       "the program's own objects",
	"schedule/fanout/publish.go":             "an argument of a command",
	"schedule/replay.go":                     "files of runs",
	"site/":                                  "files that the user names",
	"soak/":                                  "files of runs",
	"suite/":                                 "of tests",
	"upstream/":                              "files of the program itself",
	"validate/case.go":                       "a file that the user names",
	"world/":                                 "the lab's own hardware",
	"yamlstrict/":                            "files that the user names",
	"autoscale/settings/rules.go parseRules": "behind ParseRules",
	"conformance/controller/operator.go":     "a file of the program itself, and its own objects",
	"conformance/recommended/names.go":       "a file of the program itself",
	"language/":                              "a file of the program itself",
	"validate/rbac.go":                       "a file of the program itself",
	"conformance/access/devices.go parseDevices": "behind ParseDevices",
	"conformance/inference/figures.go":           "a file of the program itself",
	"conformance/metrics/figures.go":             "a file of the program itself",
	"conformance/submission/member.go":           "a file that the user names",
	"probe/guard/guard.go":                       "the guard",
	"probe/logline/line.go Parse":                "called for each line by parsers that are guarded",
	"probe/nccl/size.go ParseSize":               "an argument of the site file",
	"validate/snapshot/answer.go parseRelease":   "behind parseAnswer",
}

func exemption(path string, fn *ast.FuncDecl) string {
	if handParsers[path+" "+fn.Name.Name] {
		return ""
	}
	dir, _, _ := strings.Cut(path, "/")
	for _, key := range []string{path + " " + fn.Name.Name, path, dir + "/"} {
		if notInput[key] != "" {
			return key
		}
	}
	return ""
}

// reads says that a function takes output apart: its name begins with Parse, or outside the probes with parse, or it decodes a
// document. In a package of probes what Parse calls is behind it.
func reads(path string, fn *ast.FuncDecl) bool {
	if handParsers[path+" "+fn.Name.Name] || fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Parse") || path == "probe/redfish/redfish.go" && fn.Name.Name == "Read" {
		return true
	}
	return !strings.HasPrefix(path, "probe/") && (fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "parse") || decodes(fn))
}

func decodes(fn *ast.FuncDecl) bool {
	return calls(fn, func(_, name string) bool {
		return name == "Unmarshal" || name == "NewDecoder" || name == "TextToMetricFamilies" || name == "UnmarshalStrict"
	})
}

func guarded(fn *ast.FuncDecl) bool {
	return calls(fn, func(pkg, name string) bool { return pkg == "guard" && (name == "Parse" || name == "JSON") })
}

func calls(fn *ast.FuncDecl, is func(pkg, name string) bool) bool {
	yes := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				yes = yes || is(x.Name, s.Sel.Name)
			}
		}
		return !yes
	})
	return yes
}

// functions are those of a tree of packages, tests left out, by file below the root.
func functions(t *testing.T, root string) func(func(string, *ast.FuncDecl) bool) {
	t.Helper()
	return func(yield func(string, *ast.FuncDecl) bool) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil && !yield(strings.TrimPrefix(path, root+"/"), fn) {
					return fs.SkipAll
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
