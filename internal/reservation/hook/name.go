package hook

import (
	"fmt"
	"strconv"
)

// NameOf is the name of a deployment: what it is for (day, n1), the slug of its
// reservation, and the token of the lease that it is stood up under. A token is never
// granted twice, so no name is used twice: a cloud may still know what was deleted.
func NameOf(purpose, slug string, token int64) string {
	return fmt.Sprintf("fl-%s-%s-%s", purpose, slug, strconv.FormatInt(token, 36))
}
