"""The page of a run that is being played: how it stands, told anew whenever its log has grown."""
