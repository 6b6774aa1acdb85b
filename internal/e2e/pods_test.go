package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
)

// everyPod is what the site adds to the pods of all gates.
const everyPod = `    pod:
        metadata: {annotations: {k8s.v1.cni.cncf.io/networks: rails}}
        spec:
            imagePullSecrets: [{name: registry}]
            nodeSelector: {nvidia.com/gpu.present: "true"}
            runtimeClassName: patched-pods
            tolerations: [{key: dedicated, operator: Exists}]
            volumes: [{name: models, persistentVolumeClaim: {claimName: models}}]
`

// containerPatch is what the site adds to a container, with further fields of it.
func containerPatch(name, more string) string {
	return "pod: {spec: {containers: [{name: " + name + ", envFrom: [{secretRef: {name: hf-token}}], volumeMounts: [{name: models, mountPath: /models}]" + more + "}]}}\n"
}

// TestPatchedPods: the pods of a run have what the site adds to them, as the API server has admitted
// them; a run that would create its own namespace is refused, and so is a patch of what the gate needs,
// and a RuntimeClass that does not exist.
func TestPatchedPods(t *testing.T) {
	sharedLab(t)
	const namespace = "patched-pods"
	const token = `, env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf-token, key: token}}}], resources: {requests: {cpu: "1"}}`
	labSite := program.Must(t, "lab", "site", "--name", labName).Stdout
	kubeconfig := strings.TrimSpace(program.Must(t, "lab", "kubeconfig", "--path", "--name", labName).Stdout)
	write := func(vllm string) string {
		text := labSite
		for block, patch := range map[string]string{
			"\nworkloads:\n": everyPod, "\ntelemetry:\n": "    " + containerPatch("dcgmproftester", ""),
			"\n    collective:\n": "        " + containerPatch("nccl-tests", ""), "\n    training:\n": "        " + containerPatch("trainer", ""),
			"\n    inference:\n": "        " + containerPatch("vllm", vllm),
		} {
			if strings.Count(text, block) != 1 {
				t.Fatalf("the lab's site does not have one block %q:\n%s", block, labSite)
			}
			text = strings.Replace(text, block, block+patch, 1)
		}
		path := filepath.Join(t.TempDir(), "site.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write(token)
	accept := func(args ...string) []string {
		return append([]string{"accept", "--site", path, "--kubeconfig", kubeconfig, "--evidence", t.TempDir()}, args...)
	}
	if r := program.Run(t.Context(), accept("--only", "inference")...); r.Code != 2 || !strings.Contains(r.Stderr, "PersistentVolumeClaim models, Secret hf-token, Secret registry") || !strings.Contains(r.Stderr, "--namespace") {
		t.Errorf("without a namespace: exit %d\n%s", r.Code, r.Stderr)
	}
	for resources, want := range map[string]string{
		`{limits: {nvidia.com/gpu: "0"}}`: "patch the pods of inference: spec.containers.0.resources.limits.nvidia.com/gpu: the gate sets",
		`{$patch: replace}`:               "workloads.inference.pod.spec.containers.0.resources.$patch: directives are not allowed: a patch may add to the pod, not remove from it",
	} {
		if r := program.Run(t.Context(), "site", "check", write(", resources: "+resources)); r.Code != 2 || !strings.Contains(r.Stdout, want) {
			t.Errorf("resources %s: exit %d, want %q\n%s", resources, r.Code, want, r.Stdout)
		}
	}

	cluster := program.Cluster(t, labName)
	createReferences(t, cluster, namespace)
	t.Run("RuntimeClass missing", func(t *testing.T) {
		suite.Require(t, suite.All)
		requireRuntimeClassMissing(t, accept("--preflight", "--only", "inference", "--namespace", namespace, "-o", "json"))
	})
	class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "patched-pods"}, Handler: "nvidia"}
	if _, err := cluster.Client.NodeV1().RuntimeClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, want string, gates []string, args ...string) {
		t.Helper()
		pods := podsDuring(t, cluster, namespace, func() {
			r := program.Run(t.Context(), accept(append(args, "--namespace", namespace, "-o", "json")...)...)
			if a := decode(t, r); r.Code != 0 || a.verdicts() != want {
				t.Errorf("exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
			}
		})
		of := map[string]bool{}
		for _, p := range pods {
			of[p.Labels[kube.LabelGate]] = true
			requirePatched(t, p)
		}
		if found := slices.Sorted(maps.Keys(of)); !slices.Equal(found, gates) {
			t.Errorf("pods of gates %v were observed, want %v", found, gates)
		}
	}
	run(t, "inference=passed", []string{"inference"}, "--only", "inference")
	t.Run("all gates", func(t *testing.T) {
		suite.Require(t, suite.All)
		run(t, allPassed, []string{"collective", "gpustack", "inference", "telemetry", "training"})
	})
}

// createReferences creates the namespace and the objects in it that the site's pods refer to.
func createReferences(t *testing.T, cluster *kube.Cluster, namespace string) {
	t.Helper()
	core := cluster.Client.CoreV1()
	if _, err := core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, secret := range map[string]*corev1.Secret{
		"hf-token": {StringData: map[string]string{"token": "hf_x"}},
		"registry": {Type: corev1.SecretTypeDockerConfigJson, StringData: map[string]string{corev1.DockerConfigJsonKey: `{"auths":{}}`}},
	} {
		secret.Name = name
		if _, err := core.Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	many, size := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: corev1.PersistentVolumeSpec{
		Capacity: size, AccessModes: many, PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt/models"}},
	}}
	if _, err := core.PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "models"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: many, Resources: corev1.VolumeResourceRequirements{Requests: size}, StorageClassName: new(""), VolumeName: volume.Name,
	}}
	if _, err := core.PersistentVolumeClaims(namespace).Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	polltest.UntilNil(t, "the claim to be bound", func() error { // the scheduler places no pod before
		c, err := core.PersistentVolumeClaims(namespace).Get(t.Context(), claim.Name, metav1.GetOptions{})
		if err == nil && c.Status.Phase != corev1.ClaimBound {
			err = fmt.Errorf("it is %s", c.Status.Phase)
		}
		return err
	})
}

// requireRuntimeClassMissing requires that the preflight names the RuntimeClass that the API server does not
// have, and nothing else.
func requireRuntimeClassMissing(t *testing.T, preflight []string) {
	t.Helper()
	r := program.Run(t.Context(), preflight...)
	var report struct {
		Lines []struct{ Check, Result, Observed, Remedy string }
	}
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	stops := 0
	for _, l := range report.Lines {
		if l.Result == "ok" {
			continue
		}
		stops++
		if l.Check != "admission" || l.Result != "would-stop" || !strings.Contains(l.Observed, `RuntimeClass "patched-pods" not found`) || l.Remedy == "" {
			t.Errorf("%+v", l)
		}
	}
	if r.Code != 1 || stops != 1 {
		t.Errorf("exit %d with %d obstacles, want 1 with 1", r.Code, stops)
	}
}

// podsDuring are the states of the pods of a namespace in the API server while run runs.
func podsDuring(t *testing.T, cluster *kube.Cluster, namespace string, run func()) []*corev1.Pod {
	t.Helper()
	watch, err := cluster.Client.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{})
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
	run()
	watch.Stop()
	return <-observed
}

// requirePatched requires of a pod what the site adds to it. The site has no key for the container of gate gpustack.
func requirePatched(t *testing.T, p *corev1.Pod) {
	t.Helper()
	c, gate := p.Spec.Containers[0], p.Labels[kube.LabelGate]
	for what, ok := range map[string]bool{
		"annotation of its networks": p.Annotations["k8s.v1.cni.cncf.io/networks"] == "rails",
		"label of the run":           p.Labels[kube.LabelRun] != "",
		"toleration of the patch":    slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == "dedicated" }),
		"toleration of the gate":     slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == kube.GPUResource }),
		"pull secret":                slices.Contains(p.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: "registry"}),
		"node selector":              p.Spec.NodeSelector["nvidia.com/gpu.present"] == "true",
		"RuntimeClass":               p.Spec.RuntimeClassName != nil && *p.Spec.RuntimeClassName == "patched-pods",
		"volume of the claim": slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "models"
		}),
		"limit":                   !c.Resources.Limits.Name(kube.GPUResource, "").IsZero(),
		"environment of a Secret": gate == "gpustack" || slices.ContainsFunc(c.EnvFrom, func(e corev1.EnvFromSource) bool { return e.SecretRef != nil && e.SecretRef.Name == "hf-token" }),
		"mount of the claim":      gate == "gpustack" || slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "models" && m.MountPath == "/models" }),
		"request":                 gate != "inference" || c.Resources.Requests.Cpu().Value() == 1,
		"variable of a Secret":    gate != "inference" || slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "HF_TOKEN" && e.ValueFrom != nil }),
	} {
		if !ok {
			t.Errorf("pod %s of gate %s has no %s", p.Name, gate, what)
		}
	}
}
