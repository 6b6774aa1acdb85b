package manifest

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Kueue's own objects match an installation of the pinned module: the webhooks of the kinds that the
// lab serves, the permissions, the conversion of its kinds.
func TestKueueMatchesInstallation(t *testing.T) {
	t.Parallel()
	definitions, objects, err := Extra("kueue", values())
	if err != nil {
		t.Fatal(err)
	}
	components := filepath.Join(moduleDir(t, "kueue", "sigs.k8s.io/kueue"), "config/components")
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		got := byName(t, find(t, objects, kind, ""))
		want := byName(t, find(t, documents(t, components+"/webhook/manifests.yaml"), kind, ""))
		maps.DeleteFunc(want, func(name string, _ any) bool {
			return !slices.Contains([]string{"job", "jobset", "trainjob", "mpijob", "clusterqueue", "cohort", "resourceflavor", "workload"}, name[1:len(name)-len(".kb.io")])
		})
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 7 {
			t.Errorf("%s (-module +ours):\n%s", kind, diff)
		}
	}
	for _, c := range []struct{ kind, file string }{{"ClusterRole", "role.yaml"}, {"Role", "manager_secrets_role.yaml"}} {
		want, got := find(t, documents(t, components+"/rbac/"+c.file), c.kind, ""), find(t, objects, c.kind, "")
		if diff := cmp.Diff(want.Object["rules"], got.Object["rules"]); diff != "" {
			t.Errorf("%s (-module +ours):\n%s", c.kind, diff)
		}
	}
	patches, err := filepath.Glob(components + "/crd/patches/webhook_in_*.yaml")
	if err != nil || len(patches) == 0 {
		t.Fatalf("no patches: %v", err)
	}
	converted := 0
	for _, d := range definitions {
		got, found, err := unstructured.NestedMap(d.Object, "spec", "conversion")
		if err != nil || !found {
			continue
		}
		converted++
		plural, _, _ := unstructured.NestedString(d.Object, "spec", "names", "plural")
		want, _, err := unstructured.NestedMap(find(t, documents(t, components+"/crd/patches/webhook_in_"+plural+".yaml"), "CustomResourceDefinition", d.GetName()).Object, "spec", "conversion")
		if err != nil {
			t.Fatal(err)
		}
		service := map[string]any{"namespace": "kueue-system", "name": "kueue-webhook-service", "path": "/convert", "port": int64(9445)}
		if err := unstructured.SetNestedMap(want, service, "webhook", "clientConfig", "service"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("conversion of %s (-module +ours):\n%s", plural, diff)
		}
	}
	active := []string{"clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads"} // kustomization.yaml
	if converted != len(active) {
		t.Errorf("%d kinds are converted, want %v", converted, active)
	}
}

// byName are the webhooks of a configuration by name.
func byName(t *testing.T, o *unstructured.Unstructured) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, h := range webhooks(t, o, "") {
		hook, _ := h.(map[string]any)
		name, _ := hook["name"].(string)
		out[name] = hook
	}
	return out
}
