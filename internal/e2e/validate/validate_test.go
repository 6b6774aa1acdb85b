package validate_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
)

// whole requires a complete report of a passed validation.
func whole(t *testing.T, r report, intent string) {
	t.Helper()
	want := []string{"snapshot", "resources", "autoscaling", "health", "conformance", "intent", "artifacts"}
	if intent == "conformance" {
		want = slices.DeleteFunc(want, func(s string) bool { return s == "intent" })
	}
	var got []string
	for _, s := range r.Steps {
		got = append(got, s.Name)
		if s.Verdict != "passed" {
			t.Errorf("step %s is %s: %s", s.Name, s.Verdict, s.Reason)
		}
		for _, c := range s.Checks {
			if c.Verdict != "passed" {
				t.Errorf("%s is %s: %s %+v", c.Gate, c.Verdict, c.Reason, c.Findings)
			}
		}
		if s.Name == "conformance" && len(s.Checks) < 9 {
			t.Errorf("%d requirements", len(s.Checks))
		}
	}
	if !slices.Equal(got, want) || r.Verdict != "passed" || !r.Simulated || r.Intent != intent {
		t.Errorf("%s for %s, simulated %v: %v", r.Verdict, r.Intent, r.Simulated, got)
	}
	for _, name := range []string{"validation-result.yaml", "manifest.json", "ctrf.json", "junit.xml", "conformance-evidence/gang_scheduling.md", "conformance-evidence/robust_controller.md"} {
		if info, err := os.Stat(filepath.Join(r.Artifacts, name)); err != nil || info.Size() == 0 {
			t.Errorf("artifact %s: %v", name, err)
		}
	}
	if replay := program.Run(t.Context(), "evidence", "replay", r.Evidence); replay.Code != 0 {
		t.Errorf("replay exited %d:\n%s%s", replay.Code, replay.Stdout, replay.Stderr)
	}
}

// A user with nothing but firstlight gets from an empty machine to a validation.
func TestInference(t *testing.T) {
	r, _ := validate(t, 0, "--intent", "inference")
	whole(t, r, "inference")
	dir := filepath.Join(t.TempDir(), "out")
	product := filepath.Join(t.TempDir(), "product.yaml")
	if err := os.WriteFile(product, []byte("directory: lab\nmetadata:\n  platformName: A lab\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := program.Run(t.Context(), "validate", "submission", "--version", "1.36", "--run", r.Evidence, "--product", product, "--out", dir, "--offline")
	if refused.Code == 0 || !strings.Contains(refused.Stderr, "simulated") && !strings.Contains(refused.Stderr, "metadata") {
		t.Errorf("a submission of simulated hardware exited %d: %s", refused.Code, refused.Stderr)
	}
}

// Impossible orders are refused before anything is done.
func TestWrongOrder(t *testing.T) {
	t.Parallel()
	wrong := "snapshot,resources,autoscaling,health,intent,conformance,artifacts"
	r := program.Run(t.Context(), "validate", "plan", "--intent", "inference", "--gpus", "1", "--order", wrong)
	if r.Code != 2 || !strings.Contains(r.Stderr, "step conformance cannot come after intent: its check dra_support takes 1 GPU") {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
	if r := program.Run(t.Context(), "validate", "plan", "--intent", "inference", "--gpus", "1"); r.Code != 0 {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
}

// A missing object of a cluster is named within seconds, and a validation needs only the role
// that it prints.
func TestLeastPrivilege(t *testing.T) {
	const name, recipe = "least", "h100-kind-training"
	options := []string{"--nodes", "2"}
	if suite.Current() >= suite.All {
		options = append(options, "--with", "adapter,gateway") // for the whole validation
	}
	lab(t, name, options...)
	if r := program.Run(t.Context(), "lab", "install", recipe, "--name", name); r.Code != 0 {
		t.Fatalf("lab install exited %d: %s", r.Code, r.Stderr)
	}
	admin, err := kube.Open(kubeconfig(t, name), "")
	if err != nil {
		t.Fatal(err)
	}
	printed := program.Run(t.Context(), "validate", "rbac", recipe)
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(printed.Stdout), &role); err != nil || len(role.Rules) == 0 {
		t.Fatalf("%v: %s", err, printed.Stderr)
	}
	if _, err := admin.Client.RbacV1().ClusterRoles().Create(t.Context(), &role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "validator"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "validator"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	site, config := as(t, name, "validator")
	validator, err := kube.Open(config, "")
	if err != nil {
		t.Fatal(err)
	}
	labtest.AwaitRules(t, validator, "", role.Rules)
	args := []string{"--site", site, "--kubeconfig", config, "--recipe", recipe}

	// Deleted, and named within seconds; a busy machine needs more of them.
	if err := admin.Client.AppsV1().Deployments("cert-manager").Delete(t.Context(), "cert-manager-webhook", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r, _ := validate(t, 1, append(args, "--step", "resources")...)
	if s := r.Steps[0]; s.Name != "resources" || s.Verdict != "failed" || s.Duration > 60 || !strings.Contains(s.Reason, "cert-manager-webhook") {
		t.Errorf("%+v", s)
	}
	if r := program.Run(t.Context(), "lab", "install", recipe, "--name", name); r.Code != 0 {
		t.Fatalf("lab install exited %d: %s", r.Code, r.Stderr)
	}

	if suite.Current() < suite.All {
		return // the rest takes minutes
	}
	r, _ = validate(t, 3, append(args, "--intent", "training", "--disruptive")...)
	for _, s := range r.Steps {
		for _, c := range s.Checks {
			// The test cannot kill a program on the API server's host.
			if half := c.Gate == "robust_controller"; c.Verdict != "passed" && !half || half && !strings.HasPrefix(c.Reason, "partially shown: ") {
				t.Errorf("%s is %s: %s", c.Gate, c.Verdict, c.Reason)
			}
		}
	}
}

// as makes the lab's site and kubeconfig over to another user.
func as(t *testing.T, lab, user string) (site, config string) {
	t.Helper()
	dir := t.TempDir()
	loaded, err := clientcmd.LoadFromFile(kubeconfig(t, lab))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range loaded.AuthInfos {
		u.Impersonate = user
	}
	config = filepath.Join(dir, "kubeconfig.yaml")
	if err := clientcmd.WriteToFile(*loaded, config); err != nil {
		t.Fatal(err)
	}
	printed := program.Run(t.Context(), "lab", "site", "--name", lab)
	if printed.Code != 0 {
		t.Fatalf("lab site exited %d: %s", printed.Code, printed.Stderr)
	}
	site = filepath.Join(dir, "site.yaml")
	if err := os.WriteFile(site, []byte(printed.Stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	return site, config
}

// The other intents, and a cluster with one GPU.
func TestIntents(t *testing.T) {
	suite.Require(t, suite.All)
	for _, intent := range []string{"conformance", "training"} {
		t.Run(intent, func(t *testing.T) {
			r, _ := validate(t, 0, "--intent", intent)
			whole(t, r, intent)
		})
	}
	t.Run("OneGPU", func(t *testing.T) {
		lab(t, "one", "--hardware", "a3-highgpu-1g", "--nodes", "1")
		r, _ := validate(t, 0, "--intent", "inference", "--lab", "one")
		whole(t, r, "inference")
		_, refused := validate(t, 2, "--intent", "inference", "--lab", "one", "--order", "snapshot,resources,autoscaling,health,intent,conformance,artifacts")
		if !strings.Contains(refused.Stderr, "step conformance cannot come after intent") {
			t.Errorf("%s", refused.Stderr)
		}
	})
}
