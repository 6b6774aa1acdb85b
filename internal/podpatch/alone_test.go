package podpatch

import (
	"reflect"
	"testing"
)

func TestOnlyTolerationsStandAlone(t *testing.T) {
	t.Parallel()
	all := parse(t, `
metadata: {annotations: {k8s.v1.cni.cncf.io/networks: rdma-net}}
spec:
  tolerations: [{key: sku, value: gpu}]
  imagePullSecrets: [{name: registry}]
  serviceAccountName: site
  hostNetwork: true
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]`)
	want := []map[string]any{parse(t, "spec: {tolerations: [{key: sku, value: gpu}]}")}
	if got := Alone(all, parse(t, "spec: {serviceAccountName: site}"), nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
