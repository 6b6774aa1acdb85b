package footprint_test

import (
	"fmt"
	"strings"
	"testing"
)

// podTemplate is indented by its depth in the object.
func podTemplate(depth int) string {
	indent := strings.Repeat("  ", depth)
	return indent + "metadata: {labels: {app: extra}}\n" + indent + "spec: {containers: [{name: a, image: b, resources: {requests: {cpu: 100m}}}]}\n"
}

// manifestOf are the components of a recipe whose component has a manifest and, in its
// footprint, additional lines.
func manifestOf(t *testing.T, manifest, lines string) (workloads, problems string) {
	t.Helper()
	files := overlay("  componentRefs: [{name: thing, manifestFiles: [components/thing/m.yaml]}]\n")
	files["components/thing/m.yaml"] = manifest
	files["registry.yaml"] = "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - {name: thing, manifest: {defaultNamespace: things}}\n"
	components, found := made(t, tiny("  source: documented\n"+lines, "{}", files))
	for _, c := range components {
		for _, w := range c.Workloads {
			workloads += fmt.Sprintln(w.Kind, w.Name, w.Class, w.Replicas, w.Pod.Labels, w.Pod.Requests.Cpu())
		}
	}
	return workloads, fmt.Sprint(found)
}

func TestEveryKindOfManifestThatCreatesPodsHasPods(t *testing.T) {
	t.Parallel()
	const classes = "  workloads:\n    - {kind: Deployment, name: extra, class: any}\n    - {kind: Job, name: extra, class: any}\n    - {kind: StatefulSet, name: extra, class: any}\n    - {kind: DaemonSet, name: extra, class: any}\n"
	const metadata = "metadata: {name: extra}\n"
	for name, tt := range map[string]struct{ manifest, want string }{
		"Deployment":            {"apiVersion: apps/v1\nkind: Deployment\n" + metadata + "spec:\n  replicas: 2\n  template:\n" + podTemplate(2), "Deployment extra any 2"},
		"ReplicaSet":            {"apiVersion: apps/v1\nkind: ReplicaSet\n" + metadata + "spec:\n  replicas: 2\n  template:\n" + podTemplate(2), "Deployment extra any 2"},
		"ReplicationController": {"apiVersion: v1\nkind: ReplicationController\n" + metadata + "spec:\n  template:\n" + podTemplate(2), "Deployment extra any 1"},
		"StatefulSet":           {"apiVersion: apps/v1\nkind: StatefulSet\n" + metadata + "spec:\n  template:\n" + podTemplate(2), "StatefulSet extra any 1"},
		"DaemonSet":             {"apiVersion: apps/v1\nkind: DaemonSet\n" + metadata + "spec:\n  template:\n" + podTemplate(2), "DaemonSet extra any 0"},
		"Job":                   {"apiVersion: batch/v1\nkind: Job\n" + metadata + "spec:\n  parallelism: 3\n  template:\n" + podTemplate(2), "Job extra any 3"},
		"Job with completions":  {"apiVersion: batch/v1\nkind: Job\n" + metadata + "spec:\n  parallelism: 3\n  completions: 2\n  template:\n" + podTemplate(2), "Job extra any 2"},
		"CronJob":               {"apiVersion: batch/v1\nkind: CronJob\n" + metadata + "spec:\n  jobTemplate:\n    spec:\n      parallelism: 3\n      template:\n" + podTemplate(4), "Job extra any 3"},
		"Pod":                   {"apiVersion: v1\nkind: Pod\nmetadata: {name: extra, labels: {app: extra}}\nspec: {containers: [{name: a, resources: {requests: {cpu: 100m}}}]}\n", "Job extra any 1"},
		"List of pods":          {"apiVersion: v1\nkind: PodList\nitems:\n  - apiVersion: v1\n    kind: Pod\n    metadata: {name: extra, labels: {app: extra}}\n    spec: {containers: [{name: a, resources: {requests: {cpu: 100m}}}]}\n", "Job extra any 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := manifestOf(t, tt.manifest, classes)
			if want := tt.want + " map[app:extra] 100m\n"; !strings.HasPrefix(got, want) {
				t.Errorf("got %q, want %q: %s", got, want, problems)
			}
		})
	}
}

func TestAnUnknownKindWithAPodTemplateIsAnError(t *testing.T) {
	t.Parallel()
	const operator = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: extra}\nspec:\n  tasks:\n    - name: worker\n      template:\n"
	const created = "  workloads:\n    - {kind: StatefulSet, name: worker, class: any, createdBy: %s, replicas: 2}\n"
	const set = "apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: extra}\nspec:\n  template:\n"
	const text = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: '{{ .Release.Name }}'}\nspec:\n  containers:\n    - name: a\n"
	const argo = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: extra}\nspec:\n  templates:\n    - name: a\n"
	for name, tt := range map[string]struct{ manifest, lines, want string }{
		"a list of tasks":          {operator + podTemplate(4), "  workloads: []\n", `unknown workload Job of apiVersion "batch.volcano.sh/v1alpha1"`},
		"a template":               {set + podTemplate(2), "  workloads: []\n", "unknown workload SidecarSet"},
		"an operator's workloads":  {set + podTemplate(2), fmt.Sprintf(created, "SidecarSet"), ""},
		"another operator's":       {set + podTemplate(2), fmt.Sprintf(created, "Other"), "unknown workload SidecarSet"},
		"declared":                 {set + podTemplate(2), "  workloads: []\n  withoutPods: [SidecarSet]\n", "no-pods"},
		"a runtime of Trainer":     {"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: extra}\nspec:\n  template:\n" + podTemplate(2), "  workloads: []\n", "no-pods"},
		"text of a template":       {text, "  workloads: []\n", "template with pods"},
		"declared text":            {text, "  workloads: []\n  withoutPods: [Thing]\n", "no-pods"},
		"text of a ReplicaSet":     {"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: '{{ .Release.Name }}'}\n", "  workloads: []\n", "template with pods"},
		"a container of Argo":      {argo + "      container: {image: a, command: [train]}\n", "  workloads: []\n", "unknown workload Workflow"},
		"a script of Argo":         {argo + "      script: {image: a, source: train}\n", "  workloads: []\n", "unknown workload Workflow"},
		"a step of Tekton":         {"apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata: {name: extra}\nspec: {taskSpec: {steps: [{name: a, image: b}]}}\n", "  workloads: []\n", "unknown workload TaskRun"},
		"text of Argo":             {argo + "      container:\n        image: a\n        args: ['{{inputs.parameters.size}}']\n", "  workloads: []\n", "template with pods"},
		"a script of Argo in text": {argo + "      script:\n        image: a\n        source: echo {{workflow.name}}\n", "  workloads: []\n", "template with pods"},
		"a script that is text":    {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata:\n  script: |\n    container: a\n", "  workloads: []\n", "no-pods"},
		"the name of a container":  {"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: extra}\nspec: {container: main, script: true}\n", "  workloads: []\n", "no-pods"},
		"no template":              {"apiVersion: v1\nkind: Service\nmetadata: {name: extra}\nspec: {ports: [{name: a, port: 80}]}\n", "  workloads: []\n", "no-pods"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := manifestOf(t, tt.manifest, tt.lines)
			if !strings.Contains(problems, tt.want) || tt.want == "" && problems != "" {
				t.Errorf("got %s, want %q", problems, tt.want)
			}
		})
	}
}
