package manifest

import (
	"archive/zip"
	_ "embed" // the manifests
	"encoding/base64"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

//go:generate go run ../../pack -to content.zip crds roles.yaml apiservices.yaml adapter karpenter kai volcano kueue trainer mpi ray gateway

// packed has every manifest of this package: 4.2 MB, compressed to an eighth.
//
//go:embed content.zip
var packed string

var content = sync.OnceValues(func() (fs.FS, error) {
	return zip.NewReader(strings.NewReader(packed), int64(len(packed)))
})

// Values are the template values of manifests.
type Values struct {
	// Address and AdapterPort are the address of prometheus-adapter.
	Address                                                 string
	AdapterPort                                             int
	JobSetWebhookPort, TrainerWebhookPort, KueueWebhookPort int
	// CA is the PEM CA certificate of these servers.
	CA []byte
}

// CRDs returns kwok's definitions.
func CRDs() ([]*unstructured.Unstructured, error) { return readAll("crds/*.yaml", Values{}) }

// Extra returns an extra's definitions, which must exist first, and its other objects (chart
// objects, roles, defaults).
func Extra(name string, v Values) (definitions, objects []*unstructured.Unstructured, err error) {
	if definitions, err = readAll(name+"/crds/*.yaml", Values{}); err != nil {
		return nil, nil, err
	}
	if name == "kueue" {
		if err := convertThroughKueue(definitions, v); err != nil {
			return nil, nil, err
		}
	}
	for _, pattern := range []string{"/*.yaml", "/rbac/*.yaml", "/priorityclasses/*.yaml"} {
		some, err := readAll(name+pattern, v)
		if err != nil {
			return nil, nil, err
		}
		objects = append(objects, some...)
	}
	return definitions, objects, nil
}

// After returns the objects that an extra's own webhooks admit once its programs serve.
func After(name string) ([]*unstructured.Unstructured, error) {
	return readAll(name+"/after/*.yaml", Values{})
}

func readAll(pattern string, v Values) ([]*unstructured.Unstructured, error) {
	files, err := content()
	if err != nil {
		return nil, fmt.Errorf("open manifests: %w", err)
	}
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	var all []*unstructured.Unstructured
	for _, n := range names {
		objs, err := read(n, v)
		if err != nil {
			return nil, err
		}
		all = append(all, objs...)
	}
	return all, nil
}

// Roles returns the roles of the programs of every lab.
func Roles() ([]*unstructured.Unstructured, error) { return read("roles.yaml", Values{}) }

// APIServices returns the APIServices of prometheus-adapter.
func APIServices(v Values) ([]*unstructured.Unstructured, error) { return read("apiservices.yaml", v) }

func read(name string, v Values) ([]*unstructured.Unstructured, error) {
	files, err := content()
	if err != nil {
		return nil, fmt.Errorf("open manifests: %w", err)
	}
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	filled := strings.NewReplacer(
		"${ADDRESS}", strconv.Quote(v.Address),
		"${ADAPTER_PORT}", strconv.Itoa(v.AdapterPort),
		"${JOBSET_WEBHOOK_PORT}", strconv.Itoa(v.JobSetWebhookPort),
		"${TRAINER_WEBHOOK_PORT}", strconv.Itoa(v.TrainerWebhookPort),
		"${KUEUE_WEBHOOK_PORT}", strconv.Itoa(v.KueueWebhookPort),
		"${CA_BUNDLE}", base64.StdEncoding.EncodeToString(v.CA),
	).Replace(string(raw))
	var objs []*unstructured.Unstructured
	for doc := range strings.SplitSeq("\n"+filled, "\n---\n") {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &obj.Object); err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", name, err)
		}
		if len(obj.Object) > 0 {
			objs = append(objs, obj)
		}
	}
	return objs, nil
}
