package site_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

func TestPatchesOfPods(t *testing.T) {
	t.Parallel()
	const block = "  inference:\n"
	example := string(site.Example())
	if strings.Count(example, block) != 1 {
		t.Fatalf("the example has no %q", block)
	}
	with := func(patch string) string { return strings.Replace(example, block, block+"    pod: "+patch+"\n", 1) }
	s, err := site.Parse("s.yaml", []byte(with("{spec: {imagePullSecrets: [{name: registry}], runtimeClassName: nvidia}}")))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.PodPatches("inference")) != 1 || len(s.PodPatches("training")) != 0 {
		t.Errorf("patches: %v, %v", s.PodPatches("inference"), s.PodPatches("training"))
	}
	if refs := s.PodReferences([]string{"inference"}); len(refs) != 1 || refs[0] != "Secret registry" {
		t.Errorf("references: %v", refs)
	}
	if refs := s.PodReferences([]string{"training"}); len(refs) != 0 {
		t.Errorf("references of training: %v", refs)
	}
	_, err = site.Parse("s.yaml", []byte(with("{spec: {runtimeClass: nvidia, containers: [{name: server}]}}")))
	if err == nil || !strings.Contains(err.Error(), "workloads.inference.pod.spec.runtimeClass: unknown field") {
		t.Errorf("unknown field: %v", err)
	}
	_, err = site.Parse("s.yaml", []byte(with("{spec: {nodeName: gpu-01, containers: [{name: server}]}}")))
	for _, want := range []string{"workloads.inference.pod.spec.nodeName", `unknown container "server": want vllm`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %q", err, want)
		}
	}
}
