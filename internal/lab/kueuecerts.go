package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/poll"
)

// mountKueueCertificates writes the Secret with Kueue's certificates to the directory from which
// Kueue reads them, as a kubelet does for a pod. Kueue creates the certificates when it starts and
// then waits for the files.
func (l *Lab) mountKueueCertificates(ctx context.Context, conf component.Config) error {
	client, err := kubernetes.NewForConfig(l.rest)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	return poll.Until(ctx, pollInterval, "Kueue to create its certificates", func(ctx context.Context) error {
		secret, err := client.CoreV1().Secrets(component.KueueNamespace).Get(ctx, component.KueueCertificate, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(secret.Data["tls.crt"]) == 0 || len(secret.Data["tls.key"]) == 0 {
			return errors.New("the Secret has no certificate")
		}
		for _, name := range []string{"ca.crt", "tls.key", "tls.crt"} { // Kueue waits for tls.crt
			if err := writeFile(filepath.Join(conf.KueueCertificates(), name), string(secret.Data[name])); err != nil {
				return poll.Stop(fmt.Errorf("mount the certificates of Kueue: %w", err))
			}
		}
		return nil
	})
}
