package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/authn/kubernetes"
	"github.com/google/go-containerregistry/pkg/name"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// imageFacts are the observations of one image.
type imageFacts struct {
	image string
	// invalid: the reference cannot be parsed.
	invalid error
	// present are the nodes that report the image, of the nodes of the inventory.
	present, nodes []string
	// always: the kubelet asks the registry at each start, also if the node has the image.
	always bool
	// asked: the registry was asked. credentials: a pull secret is for this registry.
	asked, credentials bool
	// secretsErr is why pull secrets could not be read; nil if they were read.
	secretsErr error
	err        error
	digest     string
	// platforms are those of the manifest, "linux/amd64"; empty if it is for one platform.
	platforms []string
	// wanted are the platforms of the nodes.
	wanted []string
}

// imagesAtOnce is the number of registries that are asked at a time.
const imagesAtOnce = 4

// observeImages looks for images on the nodes, and asks the registries for the manifests of
// images that some nodes lack, with the pull secrets of the pods and of the namespace's default service account.
func observeImages(ctx context.Context, c *kube.Cluster, namespace string, images, secrets []string, nodes []corev1.Node) []imageFacts {
	out := make([]imageFacts, len(images))
	var keys authn.Keychain
	var secretsErr error
	for i, image := range images {
		f := &out[i]
		f.image = image
		ref, err := name.ParseReference(image)
		if f.invalid = err; err != nil {
			continue
		}
		f.onNodes(ref, nodes)
		if tag, ok := ref.(name.Tag); ok {
			f.always = tag.TagStr() == name.DefaultTag // the default of imagePullPolicy for this tag
		}
		f.asked = f.always || len(f.present) < len(f.nodes) || len(f.nodes) == 0
		if f.asked && keys == nil {
			keys, secretsErr = pullSecrets(ctx, c, namespace, secrets)
		}
	}
	var work errgroup.Group
	work.SetLimit(imagesAtOnce)
	for i := range out {
		if f := &out[i]; f.asked {
			f.secretsErr = secretsErr
			work.Go(func() error {
				f.ask(ctx, keys)
				return nil
			})
		}
	}
	_ = work.Wait() // no function returns an error
	return out
}

// onNodes lists the nodes that report the image. A kubelet reports its 50 largest images by
// default: an image may be on a node that does not report it.
func (f *imageFacts) onNodes(ref name.Reference, nodes []corev1.Node) {
	for _, n := range nodes {
		f.nodes = append(f.nodes, n.Name)
		if platform := n.Status.NodeInfo.OperatingSystem + "/" + n.Status.NodeInfo.Architecture; platform != "/" && !slices.Contains(f.wanted, platform) {
			f.wanted = append(f.wanted, platform)
		}
		for _, image := range n.Status.Images {
			if slices.ContainsFunc(image.Names, func(text string) bool {
				have, err := name.ParseReference(text)
				return err == nil && have.Name() == ref.Name()
			}) {
				f.present = append(f.present, n.Name)
				break
			}
		}
	}
}

// pullSecrets are the credentials of the pods' own pull secrets and of the default service account
// of a namespace. The keychain is valid, and anonymous, also with an error.
func pullSecrets(ctx context.Context, c *kube.Cluster, namespace string, names []string) (authn.Keychain, error) {
	none := authn.NewMultiKeychain()
	if namespace == "" {
		return none, nil // the run's own namespace has none
	}
	accounts, err := c.Client.CoreV1().ServiceAccounts(namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		return none, fmt.Errorf("read the default service account of %s: %w", namespace, err)
	}
	for _, account := range accounts.Items {
		for _, ref := range account.ImagePullSecrets {
			names = append(names, ref.Name)
		}
	}
	var secrets []corev1.Secret
	for _, of := range names {
		secret, err := c.Client.CoreV1().Secrets(namespace).Get(ctx, of, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue // the kubelet continues without it, too
		}
		if err != nil {
			return none, fmt.Errorf("read pull secret %s/%s: %w", namespace, of, withoutObject(err))
		}
		secrets = append(secrets, *secret)
	}
	keys, err := kubernetes.NewFromPullSecrets(ctx, secrets)
	if err != nil {
		// The parser's error may quote the secret.
		return none, fmt.Errorf("parse the pull secrets of the default service account of %s: not a Docker configuration", namespace)
	}
	return keys, nil
}

// withoutObject is an API error without details of the object.
func withoutObject(err error) error {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return errors.New(string(reason))
	}
	return err
}

// ask reads the manifest from the registry.
func (f *imageFacts) ask(ctx context.Context, keys authn.Keychain) {
	ref, err := name.ParseReference(f.image)
	if err != nil {
		f.invalid = err
		return
	}
	if a, err := keys.Resolve(ref.Context()); err == nil {
		f.credentials = a != authn.Anonymous
	}
	f.digest, f.platforms, f.err = Manifest(ctx, ref, keys)
}

const whatImage = "image"

// judgeImage judges one image.
func judgeImage(f imageFacts) Line {
	const (
		remedyName        = "correct the image in the site file, or push it"
		remedyCredentials = "correct the pull secret (imagePullSecrets of the service account default in the run's namespace), or grant its user access"
		remedyNode        = "pull the image on each node, or add a pull secret for the registry to the namespace (--namespace): credentials on the nodes cannot be checked from here"
		remedyReach       = "pull the image on a node: the registry is not reachable from this machine, and may be reachable from the nodes"
	)
	status := 0
	if e, ok := errors.AsType[*errcode.ErrorResponse](f.err); ok {
		status = e.StatusCode
	}
	switch {
	case errors.Is(f.err, errdef.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(f.err, auth.ErrBasicCredentialNotFound):
		status = http.StatusUnauthorized
	}
	lacking := slices.DeleteFunc(slices.Clone(f.wanted), func(p string) bool { return len(f.platforms) == 0 || slices.Contains(f.platforms, p) })
	switch {
	case f.invalid != nil:
		return stop(whatImage, f.image, remedyName, "%v", f.invalid)
	case !f.asked:
		return ok(whatImage, f.image, "present on all %d nodes", len(f.nodes))
	case f.err == nil && len(lacking) > 0:
		return stop(whatImage, f.image, "use an image for the nodes' architecture", "the registry has no manifest for %v, only for %v", lacking, f.platforms)
	case f.err == nil:
		return ok(whatImage, f.image, "found in the registry: %s", f.digest)
	case status == http.StatusNotFound:
		return stop(whatImage, f.image, remedyName, "not found in the registry")
	case (status == http.StatusUnauthorized || status == http.StatusForbidden) && f.credentials:
		return stop(whatImage, f.image, remedyCredentials, "the registry refuses the pull secret: %s", http.StatusText(status))
	case (status == http.StatusUnauthorized || status == http.StatusForbidden) && f.secretsErr != nil:
		return unobserved(whatImage, f.image, "let the account read the pull secret, or pull the image on each node", "the registry requires credentials: %v", f.secretsErr)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return unobserved(whatImage, f.image, remedyNode, "the registry requires credentials, and the run's namespace has no pull secret for it; %d of %d nodes report the image", len(f.present), len(f.nodes))
	default:
		return unobserved(whatImage, f.image, remedyReach, "%v", f.err)
	}
}
