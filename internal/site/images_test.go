package site

import (
	"strings"
	"testing"
)

func TestImagesAreTakenFromMirrors(t *testing.T) {
	t.Parallel()
	const digest = "@sha256:020bc241a628776338f4d4053fed4c38f6f7f3d7eb5919fecb8de313bb8ba47c"
	images := Images{
		Mirror: "mirror.example.com:5000/cache",
		Registries: map[string]string{
			"nvcr.io":               "nvcr.example.com",
			"nvcr.io/nvidia/vllm":   "vllm.example.com/x",
			"registry.example.com":  "registry.example.com/copies",
			"docker.io/library/foo": "foo.example.com/bar",
		},
	}
	for image, want := range map[string]string{
		"vllm/vllm-openai:v0.13.0":                      "mirror.example.com:5000/cache/docker.io/vllm/vllm-openai:v0.13.0",
		"pause:3.10":                                    "mirror.example.com:5000/cache/docker.io/library/pause:3.10",
		"docker.io/vllm/vllm-openai":                    "mirror.example.com:5000/cache/docker.io/vllm/vllm-openai",
		"registry.k8s.io/pause:3.10":                    "mirror.example.com:5000/cache/registry.k8s.io/pause:3.10",
		"registry.k8s.io/pause" + digest:                "mirror.example.com:5000/cache/registry.k8s.io/pause" + digest,
		"registry.k8s.io/pause:3.10" + digest:           "mirror.example.com:5000/cache/registry.k8s.io/pause:3.10" + digest,
		"nvcr.io/nvidia/cloud-native/dcgm:4.4.2":        "nvcr.example.com/nvidia/cloud-native/dcgm:4.4.2",
		"nvcr.io/nvidia/vllm:26.01":                     "vllm.example.com/x:26.01",
		"nvcr.io/nvidia/vllm-next:26.01":                "nvcr.example.com/nvidia/vllm-next:26.01",
		"foo:1":                                         "foo.example.com/bar:1",
		"mirror.example.com:5000/cache/docker.io/a/b:1": "mirror.example.com:5000/cache/docker.io/a/b:1",
		"not a reference":                               "not a reference",
	} {
		if got := images.resolve(image); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
	if got := (Images{}).resolve("vllm/vllm-openai:v0.13.0"); got != "vllm/vllm-openai:v0.13.0" {
		t.Errorf("without a mirror: %s", got)
	}
}

func withImages(t *testing.T, block string) string {
	t.Helper()
	return string(Example()) + "\n" + block
}

// Every image of a site comes from the mirror, also those of containers that patches add, and no
// other text of a patch changes.
func TestEveryImageOfASite(t *testing.T) {
	t.Parallel()
	text := strings.Replace(withImages(t, "images: {mirror: mirror.example.com}\n"), "telemetry:\n", `telemetry:
  pod: {metadata: {annotations: {image: "vllm/a:1"}}, spec: {initContainers: [{name: copy, image: "busybox:1"}]}}
`, 1)
	s, err := Parse("site.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all := []string{s.Telemetry.LoadImage, s.Workloads.Collective.Image, s.Workloads.Training.Image, s.Workloads.Inference.Image, s.Workloads.Inference.LoadImage, s.Autoscale.WorkerImage}
	for _, image := range all {
		if !strings.HasPrefix(image, "mirror.example.com/") {
			t.Errorf("%s is not from the mirror", image)
		}
	}
	spec := s.Telemetry.Pod["spec"].(map[string]any)["initContainers"].([]any)[0].(map[string]any)
	if spec["image"] != "mirror.example.com/docker.io/library/busybox:1" || spec["name"] != "copy" {
		t.Errorf("%v", spec)
	}
	annotations := s.Telemetry.Pod["metadata"].(map[string]any)["annotations"].(map[string]any)
	if annotations["image"] != "vllm/a:1" {
		t.Errorf("%v", annotations)
	}
}

func TestInvalidMirrors(t *testing.T) {
	t.Parallel()
	for block, want := range map[string]string{
		"images: {mirror: 'https://mirror.example.com'}":                                     `must have no scheme`,
		"images: {mirror: mirror.example.com/}":                                              `must be host[:port][/path]`,
		"images: {mirror: mirror}":                                                           `must be host[:port][/path]`,
		"images: {mirror: 'mirror.example.com/A B'}":                                         `must be host[:port][/path]`,
		"images: {registries: {nvcr.io: ''}}":                                                `must be host[:port][/path]`,
		"images: {registries: {'nvcr.io/': a.example.com}}":                                  `invalid registry "nvcr.io/"`,
		"images: {registries: {nvcr.io: a.example.com, a.example.com: b.example.com}}":       `replaces again`,
		"images: {mirrors: mirror.example.com}":                                              `unknown key "mirrors"`,
		"images: {registries: {nvcr.io: 'a.example.com:tag:x'}, mirror: 'http://b.example'}": `must have no scheme`,
	} {
		_, err := Parse("site.yaml", []byte(withImages(t, block+"\n")))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", block, err, want)
		}
	}
}
