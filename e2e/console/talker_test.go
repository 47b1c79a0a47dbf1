package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// answersFile is tried with a chat model; in all others there is none.
const answersFile = "answers.test.js"

// talker is a chat model that answers as the question says, and counts its answers.
func talker(t testing.TB) *platform.ChatServer {
	t.Helper()
	var server *platform.ChatServer
	server = platform.NewChatServer(t, func(r *http.Request, say func(string)) bool {
		asked := server.Asked()
		question := asked[len(asked)-1]
		answers := 0
		for _, one := range asked {
			if strings.Contains(one, "When does the tide flood the quay?") {
				answers++
			}
		}
		switch {
		case strings.Contains(question, "slowly"):
			say("The quay is flooded in March [1]. And")
			<-r.Context().Done()
			return false
		case strings.Contains(question, "How many tonnes"):
			say("Forty tonnes [1].")
		case strings.Contains(question, "moon"):
			say("The quay is flooded in March [1]. The moon is cheese [9].")
		case strings.Contains(question, "unknown"):
			say("NOTHING_FOUND")
		case strings.Contains(question, "broken"):
			return false
		default:
			say("The quay is flooded")
			say(" in March [1]. ")
			say(fmt.Sprintf("(%d) [1]", answers))
		}
		return true
	})
	return server
}
