# Canopy in a container: the one binary, no shell, not root.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /canopy ./cmd/canopy && mkdir /blobs

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /canopy /usr/local/bin/canopy
# A new volume takes its owner from the folder that it is mounted over.
COPY --from=build --chown=nonroot:nonroot /blobs /var/lib/canopy/blobs
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/canopy"]
CMD ["serve"]
