package gpustack

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// kindDistribution are the versions of the API server and the nodes, with the marks of distributions.
const kindDistribution = "distribution"

// distributionFigures are those of the whole cluster: control plane nodes have the versions of some API servers.
type distributionFigures struct {
	// Server is the version of the API server that answered.
	Server string              `json:"server"`
	Nodes  []distribution.Node `json:"nodes"`
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
	figures := distributionFigures{Server: server.GitVersion, Nodes: []distribution.Node{}}
	for i := range list.Items {
		n, err := distribution.NodeOf(&list.Items[i])
		if err != nil {
			return attempt.Record(nil, err)
		}
		figures.Nodes = append(figures.Nodes, n)
	}
	return attempt.Raw(rawJSON(server)).Record(figures, nil)
}
