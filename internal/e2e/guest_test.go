package e2e_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
)

// adminOf is the shared lab as its administrator reaches it, and a kubeconfig of a user of it.
func adminOf(t *testing.T, user string) (admin *kube.Cluster, config string) {
	t.Helper()
	sharedLab(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "admin")
	if err := os.WriteFile(path, []byte(program.Must(t, "lab", "kubeconfig", "--name", labName).Stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	admin, err := kube.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range loaded.AuthInfos {
		u.Impersonate = user
	}
	config = filepath.Join(dir, "user")
	if err := clientcmd.WriteToFile(*loaded, config); err != nil {
		t.Fatal(err)
	}
	return admin, config
}

// grant creates what accept rbac printed for the user of guest, and waits until the API server knows it.
func grant(t *testing.T, admin, guest *kube.Cluster, printed string) {
	t.Helper()
	var roles []*rbacv1.Role // one of all namespaces has none
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(printed)))
	for {
		doc, err := documents.Read()
		if errors.Is(err, io.EOF) {
			for _, r := range roles {
				labtest.AwaitRules(t, guest, r.Namespace, r.Rules)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			t.Fatal(err)
		}
		rbac, o := admin.Client.RbacV1(), metav1.CreateOptions{}
		switch kind.Kind {
		case "Namespace":
			_, err = admin.Client.CoreV1().Namespaces().Create(t.Context(), decoded[corev1.Namespace](t, doc), o)
		case "ClusterRole":
			r := decoded[rbacv1.ClusterRole](t, doc)
			roles = append(roles, &rbacv1.Role{Rules: r.Rules})
			_, err = rbac.ClusterRoles().Create(t.Context(), r, o)
		case "ClusterRoleBinding":
			_, err = rbac.ClusterRoleBindings().Create(t.Context(), decoded[rbacv1.ClusterRoleBinding](t, doc), o)
		case "Role":
			r := decoded[rbacv1.Role](t, doc)
			roles = append(roles, r)
			_, err = rbac.Roles(r.Namespace).Create(t.Context(), r, o)
		case "RoleBinding":
			b := decoded[rbacv1.RoleBinding](t, doc)
			_, err = rbac.RoleBindings(b.Namespace).Create(t.Context(), b, o)
		default:
			t.Fatalf("%s", doc)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func decoded[T any](t *testing.T, doc []byte) *T {
	t.Helper()
	var v T
	if err := yaml.UnmarshalStrict(doc, &v); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	return &v
}

// TestAcceptLeastPrivilege runs all gates as a user who may do what accept rbac prints, in a
// namespace that an administrator made. The namespace stays, and nothing of the run in it.
func TestAcceptLeastPrivilege(t *testing.T) {
	suite.Require(t, suite.All)
	const user, namespace = "runner", "acceptance"
	admin, config := adminOf(t, user)
	runner, err := kube.Open(config, "")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSpace(program.Must(t, "lab", "site", "--path", "--name", labName).Stdout)
	grant(t, admin, runner, program.Must(t, "accept", "rbac", "--site", path, "--namespace", namespace, "--user", user).Stdout)
	r := program.Run(t.Context(), "accept", "-o", "json", "--kubeconfig", config, "--site", path, "--namespace", namespace, "--evidence", t.TempDir())
	a := decode(t, r)
	if r.Code != 0 || a.verdicts() != allPassed {
		t.Errorf("exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
	}
	if v := program.Run(t.Context(), "evidence", "verify", a.Evidence); v.Code != 0 {
		t.Errorf("verify: %s%s", v.Stdout, v.Stderr)
	}
	if _, err := admin.Client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{}); err != nil {
		t.Errorf("the administrator's namespace: %v", err)
	}
	left, err := kube.Guest{Cluster: admin.In(namespace)}.LeftOf(t.Context(), a.Run)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the namespace: %+v, %v", left, err)
	}
	if h, err := admin.In(namespace).GetRunLease(t.Context(), a.Run); h != nil || err != nil {
		t.Errorf("the Lease is left: %+v, %v", h, err)
	}
	program.RequireClean(t, labName)
}

// TestCopyOfALiveRun: the directory of a run that is in progress is copied, and
// accept is called with the copy.
func TestCopyOfALiveRun(t *testing.T) {
	suite.Require(t, suite.All)
	admin, _ := adminOf(t, "nobody")
	dir, copied := t.TempDir(), ""
	live := program.Command(t.Context(), "accept", "-o", "json", "--lab", labName, "--evidence", dir)
	var out strings.Builder
	live.Stdout = &out
	if err := live.Start(); err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "the Lease of the run", func() bool {
		leases, err := admin.Client.CoordinationV1().Leases(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: kube.LabelRun})
		return err == nil && len(leases.Items) > 0
	})
	polltest.UntilNil(t, "a copy without a file that the run renames meanwhile", func() error {
		copied = filepath.Join(t.TempDir(), "evidence")
		return os.CopyFS(copied, os.DirFS(dir))
	})
	for _, args := range [][]string{{"--fresh"}, {"--resume", "latest"}, {}} {
		r := program.Run(t.Context(), slices.Concat([]string{"accept", "-o", "json", "--lab", labName, "--evidence", copied}, args)...)
		if r.Code != 2 || !strings.Contains(r.Stderr, "is live: held by ") {
			t.Errorf("%v during a live run exits %d: %s", args, r.Code, r.Stderr)
		}
	}
	if err := live.Wait(); err != nil {
		t.Errorf("the live run: %v", err)
	}
	if a := decode(t, binary.Result{Stdout: out.String()}); a.verdicts() != allPassed {
		t.Errorf("the live run: %s", a.verdicts())
	}
	program.RequireClean(t, labName)
}
