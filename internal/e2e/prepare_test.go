package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPrepare: commands and Helm releases run before their gate, their output
// is kept, and their exit code is not the criterion. A chart's hooks run, the site's values win, and a
// release with an object that does not become ready, or with a value that a template refuses, is
// rolled back and names it.
func TestPrepare(t *testing.T) {
	sharedLab(t)
	dir := t.TempDir()
	chart := filepath.Join(dir, "chart")
	files := map[string]string{
		"Chart.yaml":        "apiVersion: v2\nname: prepared\nversion: 1.2.3\n",
		"values.yaml":       "said: nothing\nport: 1\n",
		"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\ndata: {said: \"{{ .Values.said }}\", port: \"{{ int .Values.port }}\"}\n",
		"templates/hook.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: hook-{{ .Release.Name }}, annotations: {helm.sh/hook: pre-install}}\n" +
			"spec: {template: {metadata: {annotations: {firstlight.dev/world-completes: \"true\"}}, spec: {restartPolicy: Never, containers: [{name: hook, image: example.com/hook:1}]}}}\n",
		"templates/pod.yaml": "{{ if .Values.node }}\napiVersion: v1\nkind: Pod\nmetadata: {name: placed}\n" +
			"spec: {nodeSelector: {kubernetes.io/hostname: {{ required \"node.name is missing\" .Values.node.name }}}, containers: [{name: main, image: example.com/main:1}]}\n{{ end }}\n",
		"../values.yaml": "said: from the site\n",
	}
	for name, content := range files {
		path := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	namespace := "prepare-test"
	path := filepath.Join(dir, "site.yaml")
	prepared := program.Must(t, "lab", "site", "--name", labName).Stdout + `
prepare:
  - gate: facility
    command: [sh, -c, "echo to be kept; exit 7"]
  - gate: facility
    helm: {release: prepared, chart: ` + chart + `, version: 1.2.3, namespace: ` + namespace + `, valuesFile: values.yaml, values: {port: 9400}}
  - gate: facility
    helm: {release: other, chart: ` + chart + `, version: 9.9.9, namespace: ` + namespace + `}
  - gate: facility
    helm: {release: refused, chart: ` + chart + `, version: 1.2.3, namespace: ` + namespace + `, values: {node: {noode: gpu-01}}}
  - gate: facility
    timeout: 30s
    helm: {release: unplaced, chart: ` + chart + `, version: 1.2.3, namespace: ` + namespace + `, values: {node: {name: gpu-99}}}
`
	if err := os.WriteFile(path, []byte(prepared), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster := program.Cluster(t, labName)
	t.Cleanup(func() {
		if err := cluster.Client.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), namespace, metav1.DeleteOptions{}); err != nil {
			t.Log(err) // the lab goes with the package
		}
	})
	kubeconfig := strings.TrimSpace(program.Must(t, "lab", "kubeconfig", "--path", "--name", labName).Stdout)
	evidence := filepath.Join(dir, "evidence")
	r := program.Run(t.Context(), "accept", "-o", "json", "--only", "facility", "--site", path, "--kubeconfig", kubeconfig, "--evidence", evidence)
	a := decode(t, r)
	if r.Code != 0 || a.verdicts() != "facility=passed" {
		t.Errorf("exit %d: %s\n%s", r.Code, a.verdicts(), r.Stderr)
	}
	cm, err := cluster.Client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "prepared", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if cm.Data["said"] != "from the site" || cm.Data["port"] != "9400" {
		t.Errorf("the release's values are not the site's: %v", cm.Data)
	}
	if hook, err := cluster.Client.BatchV1().Jobs(namespace).Get(t.Context(), "hook-prepared", metav1.GetOptions{}); err != nil || hook.Status.Succeeded != 1 {
		t.Errorf("the chart's hook has not succeeded: %v", err)
	}
	for _, name := range []string{"refused", "unplaced"} {
		left, err := cluster.Client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm,name=" + name})
		if err != nil || len(left.Items) > 0 {
			t.Errorf("%d revisions of release %s remain, %v", len(left.Items), name, err)
		}
	}
	var kept strings.Builder
	for name, data := range readAll(t, filepath.Join(evidence, a.Run, "observations")) {
		if strings.Contains(name, "prepare") {
			kept.Write(data)
		}
	}
	for _, want := range []string{"to be kept", `"exit": 7`, "is installed in " + namespace, "want 9.9.9 as pinned by the site",
		"prepared/templates/pod.yaml", "node.name is missing", "Pod/" + namespace + "/placed not ready", "pod placed: Unschedulable: ", "rolled back: uninstalled",
	} {
		if !strings.Contains(kept.String(), want) {
			t.Errorf("the evidence lacks %q:\n%s", want, kept.String())
		}
	}
}

// TestSecretsStayOut searches a whole run for the password that was used in it.
func TestSecretsStayOut(t *testing.T) {
	sharedLab(t)
	labSite := program.Must(t, "lab", "site", "--path", "--name", labName).Stdout
	password, err := os.ReadFile(filepath.Join(filepath.Dir(strings.TrimSpace(labSite)), "world", "redfish-password"))
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimSpace(string(password))
	if len(secret) < 8 {
		t.Fatalf("%q is too short for a search", secret)
	}
	_, r, dir := healthyRun(t)
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s", r.Code, r.Stderr)
	}
	for name, data := range readAll(t, dir) {
		if strings.Contains(string(data), secret) {
			t.Errorf("the password is in %s", name)
		}
	}
	if strings.Contains(r.Stdout+r.Stderr, secret) {
		t.Error("the password is in the output")
	}
}
