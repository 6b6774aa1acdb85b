package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// TestPatchedPods: the pods of a run have what the site adds to them, a Secret of the namespace and
// a toleration; a run that would create its own namespace is refused, and so is a patch of what
// the gate needs.
func TestPatchedPods(t *testing.T) {
	sharedLab(t)
	const namespace, name, pod = "patched-pods", "HF_TOKEN", `
    pod:
      metadata: {annotations: {example.com/network: rails}}
      spec:
        tolerations: [{key: dedicated, operator: Exists}]
        containers:
          - name: vllm
            env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf-token, key: token}}}]
            resources: {requests: {cpu: "1"}}
`
	labSite := program.Must(t, "lab", "site", "--name", labName).Stdout
	kubeconfig := strings.TrimSpace(program.Must(t, "lab", "kubeconfig", "--path", "--name", labName).Stdout)
	write := func(patch string) string {
		const block = "    inference:\n"
		if strings.Count(labSite, block) != 1 {
			t.Fatalf("the lab's site has no block of its own for the workload of gate inference:\n%s", labSite)
		}
		path := filepath.Join(t.TempDir(), "site.yaml")
		indented := strings.ReplaceAll(strings.TrimPrefix(patch, "\n"), "\n", "\n    ")
		if err := os.WriteFile(path, []byte(strings.Replace(labSite, block, block+"    "+strings.TrimRight(indented, " "), 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	accept := func(path string, args ...string) []string {
		return append([]string{"accept", "--only", "inference", "--site", path, "--kubeconfig", kubeconfig, "--evidence", t.TempDir()}, args...)
	}
	path := write(pod)
	if r := program.Run(t.Context(), accept(path)...); r.Code != 2 || !strings.Contains(r.Stderr, "Secret hf-token") || !strings.Contains(r.Stderr, "--namespace") {
		t.Errorf("without a namespace: exit %d\n%s", r.Code, r.Stderr)
	}
	fewer := write(strings.Replace(pod, `requests: {cpu: "1"}`, `limits: {nvidia.com/gpu: "0"}`, 1))
	if r := program.Run(t.Context(), "site", "check", fewer); r.Code != 2 || !strings.Contains(r.Stdout, "limits.nvidia.com/gpu") {
		t.Errorf("a patch of the gate's limit: exit %d\n%s", r.Code, r.Stdout)
	}

	cluster := program.Cluster(t, labName)
	core := cluster.Client.CoreV1()
	if _, err := core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "hf-token"}, StringData: map[string]string{"token": "hf_x"}}
	if _, err := core.Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	watch, err := core.Pods(namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	observed := make(chan []*corev1.Pod)
	go func() {
		var pods []*corev1.Pod
		for event := range watch.ResultChan() {
			if p, ok := event.Object.(*corev1.Pod); ok {
				pods = append(pods, p)
			}
		}
		observed <- pods
	}()
	r := program.Run(t.Context(), accept(path, "--namespace", namespace, "-o", "json")...)
	if a := decode(t, r); r.Code != 0 || a.verdicts() != "inference=passed" {
		t.Errorf("exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
	}
	watch.Stop()
	pods := <-observed
	if len(pods) == 0 {
		t.Error("no pod was observed")
	}
	for _, p := range pods {
		requirePatched(t, p, name)
	}
}

func requirePatched(t *testing.T, p *corev1.Pod, name string) {
	t.Helper()
	c := p.Spec.Containers[0]
	for what, ok := range map[string]bool{
		"annotation":              p.Annotations["example.com/network"] == "rails",
		"label of the run":        p.Labels[kube.LabelRun] != "",
		"toleration of the patch": slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == "dedicated" }),
		"toleration of the gate":  slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == kube.GPUResource }),
		"request":                 c.Resources.Requests.Cpu().Value() == 1,
		"limit":                   !c.Resources.Limits.Name(kube.GPUResource, "").IsZero(),
		"secret":                  slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name && e.ValueFrom != nil }),
	} {
		if !ok {
			t.Errorf("pod %s has no %s", p.Name, what)
		}
	}
}
