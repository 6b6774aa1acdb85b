package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The extra's own objects match an installation of the pinned modules: same webhooks for the same
// objects, same permissions, installed names.
func TestTrainerMatchesInstallation(t *testing.T) {
	t.Parallel()
	_, objects, err := Extra("trainer", values())
	if err != nil {
		t.Fatal(err)
	}
	trainer := filepath.Join(moduleDir(t, "batch", "github.com/kubeflow/trainer/v2"), "manifests/base")
	jobset := filepath.Join(moduleDir(t, "batch", "sigs.k8s.io/jobset"), "config/components")
	validating, mutating := "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"
	for _, c := range []struct{ kind, name, file, patch string }{
		{validating, "validator.trainer.kubeflow.org", trainer + "/webhook/manifests.yaml", ""},
		{validating, "jobset-validating-webhook-configuration", jobset + "/webhook/manifests.yaml", jobset + "/webhook/patches/validating-patch.yaml"},
		{mutating, "jobset-mutating-webhook-configuration", jobset + "/webhook/manifests.yaml", jobset + "/webhook/patches/mutating-patch.yaml"},
	} {
		want := webhooks(t, find(t, documents(t, c.file), c.kind, ""), c.patch)
		got := webhooks(t, find(t, objects, c.kind, c.name), "")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-module +ours):\n%s", c.name, diff)
		}
	}
	for _, c := range []struct{ kind, name, file string }{
		{"ClusterRole", "jobset-manager-role", jobset + "/rbac/role.yaml"},
		{"Role", "jobset-leader-election-role", jobset + "/rbac/leader_election_role.yaml"},
	} {
		want, got := find(t, documents(t, c.file), c.kind, ""), find(t, objects, c.kind, c.name)
		if diff := cmp.Diff(want.Object["rules"], got.Object["rules"]); diff != "" {
			t.Errorf("%s (-module +ours):\n%s", c.name, diff)
		}
	}
}

// webhooks returns a configuration's webhooks without service and CA, with their paths; patch
// replaces the second, as in the module's installation.
func webhooks(t *testing.T, o *unstructured.Unstructured, patch string) []any {
	t.Helper()
	hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
	if err != nil || len(hooks) == 0 {
		t.Fatalf("%s %s has no webhooks, %v", o.GetKind(), o.GetName(), err)
	}
	if patch != "" {
		raw, err := os.ReadFile(patch)
		if err != nil {
			t.Fatal(err)
		}
		var ops []struct {
			Op, Path string
			Value    map[string]any
		}
		if err := yaml.Unmarshal(raw, &ops); err != nil || len(ops) != 1 || ops[0].Op != "replace" || ops[0].Path != "/webhooks/1" {
			t.Fatalf("%s has changed: %v, %v", patch, ops, err)
		}
		hooks[1] = ops[0].Value
	}
	for _, h := range hooks {
		hook, ok := h.(map[string]any)
		if !ok {
			t.Fatalf("a webhook is %T", h)
		}
		path, _, err := unstructured.NestedString(hook, "clientConfig", "service", "path")
		if err != nil || path == "" {
			t.Fatalf("webhook without path: %v, %v", hook, err)
		}
		hook["clientConfig"] = path
	}
	return hooks
}

// find returns the only object of a kind and, unless empty, a name.
func find(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() == kind && (name == "" || o.GetName() == name) {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d of %s %q, want one", len(found), kind, name)
	}
	return found[0]
}

// documents returns the objects of a file.
func documents(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []*unstructured.Unstructured
	for doc := range strings.SplitSeq("\n"+string(raw), "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &o.Object); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
	return all
}
