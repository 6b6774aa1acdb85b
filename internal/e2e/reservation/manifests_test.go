package reservation_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// kinds of the manifests, and their resources.
var kinds = map[string]schema.GroupVersionResource{
	"Namespace":           {Version: "v1", Resource: "namespaces"},
	"ConfigMap":           {Version: "v1", Resource: "configmaps"},
	"Service":             {Version: "v1", Resource: "services"},
	"ServiceAccount":      {Version: "v1", Resource: "serviceaccounts"},
	"Deployment":          {Group: "apps", Version: "v1", Resource: "deployments"},
	"NetworkPolicy":       {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	"PodDisruptionBudget": {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	"ClusterRole":         {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	"ClusterRoleBinding":  {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	"Role":                {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"RoleBinding":         {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
}

func objects(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096); ; {
		u := &unstructured.Unstructured{}
		if err := d.Decode(&u.Object); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, u)
	}
}

// storeKubeconfig is the administrator's kubeconfig of the local store.
func storeKubeconfig(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(reservation(t, 0, []string{"store", "kubeconfig"}).Stdout)
}

// create creates the objects of an example; the API server knows every field of them.
func create(t *testing.T, name string) {
	t.Helper()
	c, err := kube.Open(storeKubeconfig(t), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range objects(t, name) {
		resource, known := kinds[u.GetKind()]
		if !known {
			t.Fatalf("%s has a %s", name, u.GetKind())
		}
		var at dynamic.ResourceInterface = c.Dynamic.Resource(resource)
		if ns := u.GetNamespace(); ns != "" {
			at = c.Dynamic.Resource(resource).Namespace(ns)
		}
		if _, err := at.Create(t.Context(), u, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
			t.Errorf("%s: %s %s: %v", name, u.GetKind(), u.GetName(), err)
		}
	}
}

// as returns a kubeconfig of the store that impersonates a user.
func as(t *testing.T, user string, groups ...string) string {
	t.Helper()
	c, err := clientcmd.LoadFromFile(storeKubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range c.AuthInfos {
		who.Impersonate, who.ImpersonateGroups = user, groups
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// The example's manifests are taken, and its roles are enough for what they are for, and
// for no more.
func TestManifests(t *testing.T) {
	create(t, "reservation-rbac.yaml")
	create(t, "reservation-run.yaml")
	t.Run("viewer", func(t *testing.T) {
		k := as(t, "vic", "engineers")
		for _, args := range [][]string{{"get"}, {"describe", "many"}, {"history", "many"}, {"metrics"}} {
			reservation(t, 0, append(args, "--kubeconfig", k))
		}
		reservation(t, 3, []string{"acquire", "many", "--kubeconfig", k}, "is forbidden")
	})
	t.Run("user", func(t *testing.T) {
		k := []string{"--kubeconfig", as(t, "ada", "gpu-team")}
		reservation(t, 0, append([]string{"acquire", "many", "--as", "ada"}, k...))
		bob := []string{"--kubeconfig", as(t, "bob", "gpu-team"), "--grant", strconv.FormatInt(describe(t, "many").Token, 10)}
		for _, step := range [][]string{{"renew"}, {"extend", "--by", "1h"}, {"release"}} {
			reservation(t, 1, slices.Concat(step, []string{"many"}, bob), "only the holder or an operator")
		}
		for range 20 { // more history than a reservation has room for: pieces of it are kept
			reservation(t, 0, append([]string{"extend", "many", "--by", "1m"}, k...))
		}
		reservation(t, 0, append([]string{"release", "many"}, k...))
		reservation(t, 0, append([]string{"clean", "many", "--why", "checked by a test"}, k...))
		reservation(t, 3, append([]string{"apply", "--file", registry1(t)}, k...), "is forbidden")
	})
	t.Run("operator", func(t *testing.T) {
		testController(t, as(t, "system:serviceaccount:firstlight:firstlight-reservations"))
	})
}

// testController runs the controller as the manifest does, by its service account's rights,
// and has one who is on call do an entry by hand, which the controller does then.
func testController(t *testing.T, kubeconfig string) {
	t.Helper()
	files := map[string]string{
		"--kubeconfig": kubeconfig, "--file": registry, "--schedule": schedule, "--hooks": hooks,
		"--batch": "../../../examples/batch.yaml", "--listen": "127.0.0.1:0",
	}
	var args []string
	for _, arg := range containerArgs(t) {
		if flag, _, _ := strings.Cut(arg, "="); files[flag] != "" {
			arg = flag + "=" + files[flag]
			delete(files, flag)
		}
		args = append(args, arg)
	}
	if len(files) > 0 {
		t.Errorf("the manifest does not give %v", files)
	}
	cmd := program.Command(t.Context(), append([]string{"reservation", "run"}, args...)...)
	path := filepath.Join(t.TempDir(), "log")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	logged := func() string {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	polltest.Until(t, "the controller to lead", func() bool {
		if cmd.ProcessState != nil || strings.Contains(logged(), "forbidden") {
			t.Fatalf("it says\n%s", logged())
		}
		return strings.Contains(logged(), "self=true")
	})
	once := []string{"reservation", "run", "--once", "evening-down", "--namespace", "firstlight", "--kubeconfig", as(t, "ola", "gpu-oncall")}
	once = append(once, "--file", registry, "--schedule", schedule, "--hooks", hooks, "--batch", "../../../examples/batch.yaml", "--listen", "")
	r := program.Run(t.Context(), once...)
	if r.Code != 0 || !strings.Contains(r.Stdout, "by-day: unchanged: there is no deployment") || !strings.Contains(r.Stderr, "the running controller executes the entry") {
		t.Errorf("by hand: exit %d\n%s%s\nthe controller says\n%s", r.Code, r.Stdout, r.Stderr, logged())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.Contains(logged(), "forbidden") {
		t.Errorf("told to end, it ends with %v and says\n%s", err, logged())
	}
	reservation(t, 0, []string{"metrics"}, `firstlight_handover_failed{entry="evening-down"} 0`, `firstlight_handover_last_timestamp_seconds{entry="evening-down",result="done"}`)
}

// containerArgs are those of the Deployment; the program knows them.
func containerArgs(t *testing.T) []string {
	t.Helper()
	for _, u := range objects(t, "reservation-run.yaml") {
		if u.GetKind() != "Deployment" {
			continue
		}
		containers, _, err := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
		if err != nil || len(containers) != 1 {
			t.Fatalf("%d containers, %v", len(containers), err)
		}
		c := containers[0].(map[string]any)
		command, _, _ := unstructured.NestedStringSlice(c, "command")
		args, _, _ := unstructured.NestedStringSlice(c, "args")
		if !slices.Equal(command, []string{"firstlight", "reservation", "run"}) || len(args) == 0 {
			t.Fatalf("it runs %v %v", command, args)
		}
		if r := binary.Finish(program.Command(t.Context(), append(append(command[1:], args...), "--help")...)); r.Code != 0 {
			t.Errorf("its arguments: %s", r.Stderr)
		}
		return args
	}
	t.Fatal("there is no Deployment")
	return nil
}
