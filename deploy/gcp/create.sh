#!/bin/sh
# Creates a virtual machine of Google Cloud with a GPU that serves a model. A machine that exists already is left as it is.
#
#   IMAGE=europe-docker.pkg.dev/PROJECT/REPOSITORY/gopherwarp MODEL=https://HOST/model.gguf sh deploy/gcp/create.sh
#
# Other variables: NAME (default: gopherwarp), ZONE (default: europe-west4-a), and GPU: l4 (default) or t4.
# Everybody who may see the project can read the metadata of a machine, which has IMAGE and MODEL: use no URL that has a password or a token.
# The machine makes its API key itself, and only its root can read it.
set -eu

: "${IMAGE:?is the image to run, in a registry}"
: "${MODEL:?is the URL of a GGUF file}"
NAME=${NAME:-gopherwarp}
ZONE=${ZONE:-europe-west4-a}
GPU=${GPU:-l4}

case $IMAGE$MODEL in
*,*)
	echo "create.sh: IMAGE and MODEL must not contain a comma" >&2
	exit 2
	;;
esac
case $GPU in
l4) set -- --machine-type=g2-standard-4 ;; # has one L4
t4) set -- --machine-type=n1-standard-4 --accelerator=type=nvidia-tesla-t4,count=1 ;;
*)
	echo "create.sh: GPU is $GPU; it must be l4 or t4" >&2
	exit 2
	;;
esac

if gcloud compute instances describe "$NAME" --zone="$ZONE" >/dev/null 2>&1; then
	echo "create.sh: $NAME exists already in $ZONE"
else
	# A machine with a GPU cannot move to another host.
	gcloud compute instances create "$NAME" --zone="$ZONE" "$@" \
		--image-family=debian-12 --image-project=debian-cloud --boot-disk-size=100GB \
		--maintenance-policy=TERMINATE \
		--metadata="gopherwarp-image=$IMAGE,gopherwarp-model=$MODEL" \
		--metadata-from-file="startup-script=$(dirname "$0")/startup.sh"
fi

cat <<END
The machine needs some minutes to install the driver. Its progress, its API key, and a tunnel to http://localhost:8080:
  gcloud compute ssh $NAME --zone=$ZONE --command='sudo journalctl -f -u google-startup-scripts'
  gcloud compute ssh $NAME --zone=$ZONE --command='sudo cat /etc/gopherwarp/keys'
  gcloud compute ssh $NAME --zone=$ZONE -- -N -L 8080:localhost:8080
END
