package gpustack

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// kindDistribution are the versions of the API server and the nodes, with the marks of distributions.
const kindDistribution = "distribution"

// distributionFigures are of every node of the cluster, not of the inventory alone: in some distributions the kubelet of
// a control plane node has the version of the API server there.
type distributionFigures struct {
	// Server is the version of the API server that answered.
	Server string              `json:"server"`
	Nodes  []distribution.Node `json:"nodes"`
}

// rawDistribution is the part of the answers of the API from which the figures were read.
type rawDistribution struct {
	Version *version.Info `json:"version"`
	Nodes   []rawNode     `json:"nodes"`
}

type rawNode struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	// Annotations are those that are marks of distributions.
	Annotations map[string]string     `json:"annotations"`
	NodeInfo    corev1.NodeSystemInfo `json:"nodeInfo"`
}

func rawNodeOf(n *corev1.Node, of distribution.Node) rawNode {
	raw := rawNode{Name: n.Name, Labels: n.Labels, Annotations: map[string]string{}, NodeInfo: n.Status.NodeInfo}
	for _, mark := range of.Marks {
		if value, ok := n.Annotations[mark]; ok {
			raw.Annotations[mark] = value
		}
	}
	return raw
}

func (g *Gate) observeDistribution(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	attempt := g.begin(rec, kindDistribution, "cluster", "GET /version; GET nodes: versions, and the labels and annotations that distributions set")
	server, err := cluster.Client.Discovery().ServerVersion()
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("read the version of the API server: %w", err))
	}
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list nodes: %w", err))
	}
	raw := rawDistribution{Version: server}
	figures := distributionFigures{Server: server.GitVersion, Nodes: []distribution.Node{}}
	for i := range list.Items {
		n, err := distribution.NodeOf(&list.Items[i])
		if err != nil {
			return attempt.Record(nil, err)
		}
		figures.Nodes = append(figures.Nodes, n)
		raw.Nodes = append(raw.Nodes, rawNodeOf(&list.Items[i], n))
	}
	return attempt.Raw(rawJSON(raw)).Record(figures, nil)
}
