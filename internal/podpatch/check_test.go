package podpatch

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var patch map[string]any
	if err := yaml.Unmarshal([]byte(text), &patch); err != nil {
		t.Fatal(err)
	}
	return patch
}

// usual is what sites need: a gated model, a private registry, tolerations, a network attachment.
const usual = `
metadata:
  annotations: {k8s.v1.cni.cncf.io/networks: rdma-net}
spec:
  runtimeClassName: nvidia
  nodeSelector: {pool: acceptance}
  imagePullSecrets: [{name: registry}]
  tolerations: [{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule}]
  initContainers: [{name: tcpxo-daemon, image: example.com/tcpxo:1, restartPolicy: Always}]
  containers:
    - name: vllm
      env:
        - name: HF_TOKEN
          valueFrom: {secretKeyRef: {name: hf-token, key: token}}
        - {name: HF_HOME, value: /models}
      envFrom: [{configMapRef: {name: proxy, optional: true}}]
      resources: {requests: {cpu: "8", memory: 64Gi}}
      volumeMounts: [{name: models, mountPath: /models}]
  volumes: [{name: models, persistentVolumeClaim: {claimName: models}}]
`

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		patch, container string
		want             string // path of the only problem; empty: none
	}{
		"usual":                  {usual, "vllm", ""},
		"nothing":                {"", "vllm", ""},
		"unknown field":          {"spec: {tolerationz: []}", "vllm", "spec.tolerationz"},
		"unknown field of list":  {"spec: {containers: [{name: vllm, envv: []}]}", "vllm", "spec.containers.0.envv"},
		"wrong type":             {"spec: {nodeSelector: [a]}", "vllm", "spec.nodeSelector"},
		"directive":              {"spec: {containers: [{name: vllm, $patch: delete}]}", "vllm", "spec.containers.0.$patch"},
		"null":                   {"spec: {affinity: null}", "vllm", "spec.affinity"},
		"removed limits":         {"spec: {containers: [{name: vllm, resources: {limits: null}}]}", "vllm", "spec.containers.0.resources.limits"},
		"node name":              {"spec: {nodeName: gpu-01}", "vllm", "spec.nodeName"},
		"scheduler":              {"spec: {schedulerName: volcano}", "vllm", "spec.schedulerName"},
		"unknown container":      {"spec: {containers: [{name: server}]}", "vllm", "spec.containers.0.name"},
		"container of all gates": {"spec: {containers: [{name: vllm}]}", "", "spec.containers.0"},
		"init without image":     {"spec: {initContainers: [{name: init}]}", "vllm", "spec.initContainers.0"},
		"credential":             {"spec: {containers: [{name: vllm, env: [{name: HF_TOKEN, value: hf_x}]}]}", "vllm", "spec.containers.0.env.0.value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := Check(parse(t, tt.patch), tt.container)
			if tt.want == "" {
				if len(problems) > 0 {
					t.Errorf("%v", problems)
				}
				return
			}
			if len(problems) != 1 || problems[0].Path != tt.want {
				t.Fatalf("%v, want one at %s", problems, tt.want)
			}
			// A refused null or directive had no remedy.
			if removes := strings.Contains(tt.patch, "null") || strings.Contains(tt.patch, "$patch"); removes != strings.HasSuffix(problems[0].Message, remedy) {
				t.Errorf("the remedy of %q", problems[0].Message)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	got := References(parse(t, usual))
	want := []string{"PersistentVolumeClaim models", "Secret hf-token", "Secret registry"} // proxy is optional
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
