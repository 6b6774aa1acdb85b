package health

import (
	"encoding/json"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

const refers = `apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
spec:
  steps:
  - try:
    - assert: {file: objects/*.yaml}
    - error: {resource: {apiVersion: v1, kind: Pod, metadata: {namespace: ns}, status: {phase: Failed}}}
    - assert: {resource: {(length('a')): 1}}
`

var referring = Component{
	Name: "a", File: "checks/a/health-check.yaml", Asserts: refers,
	Files: map[string]string{
		"objects/b.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b, namespace: ns}\n",
		"objects/c.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: c, namespace: ns}\n",
		"other.yaml":     "a: [",
	},
}

// A component that is decoded from JSON has the same digest and operations.
func TestFileReferences(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(referring)
	if err != nil {
		t.Fatal(err)
	}
	var again Component
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(referring, again); diff != "" || again.digest() != referring.digest() {
		t.Error(diff)
	}
	l := load(again)
	if l.err != nil {
		t.Fatal(l.err)
	}
	var got []string
	for _, op := range l.operations() {
		got = append(got, op.Subject()+" "+op.At.String())
	}
	want := []string{"Deployment ns/b checks/a/objects/b.yaml:1:1", "Pod ns/c checks/a/objects/c.yaml:1:1", "Pod ns/* checks/a/health-check.yaml:8:7", "expressions checks/a/health-check.yaml:9:7"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again.Files["objects/b.yaml"] = strings.ReplaceAll(again.Files["objects/b.yaml"], "name: b", "name: x")
	if again.digest() == referring.digest() {
		t.Error("a changed file does not change the digest")
	}
	delete(again.Files, "objects/b.yaml")
	delete(again.Files, "objects/c.yaml")
	if l := load(again); l.err == nil || !strings.Contains(l.err.Error(), "0 files match") {
		t.Error(l.err)
	}
}

func TestFileSet(t *testing.T) {
	t.Parallel()
	files := fileSet(referring.Files)
	f, err := files.Open("objects/b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	info, statErr := f.Stat()
	if err != nil || statErr != nil || string(data) != files["objects/b.yaml"] || info.Size() != int64(len(data)) || info.Name() != "b.yaml" || info.IsDir() {
		t.Error(string(data), err, statErr, info)
	}
	if _, err := fs.ReadFile(files, "none"); err == nil {
		t.Error("ReadFile of a missing file succeeds")
	}
	if _, err := files.Open("none"); err == nil {
		t.Error("Open of a missing file succeeds")
	}
	if _, err := files.Glob("["); err == nil {
		t.Error("an invalid pattern matches")
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get"}},
	}
	if diff := cmp.Diff(want, Rules([]Component{referring, {Name: "none"}, {Name: "broken", File: "x", Asserts: "["}})); diff != "" {
		t.Error(diff)
	}
}
