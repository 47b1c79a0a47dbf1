import{R as e}from"./index-BGvg6U6k.js";var t=e(`query Me {
  me {
    email
    user {
      id
      databaseId
      name
      firstName
      lastName
      otpMethod
      version
    }
    customer {
      id
      databaseId
      name
      level
    }
    grants {
      application
      accountId
      roleName
      isOwner
      features
    }
  }
}`),n=e(`subscription MeUpdated {
  meUpdated {
    email
    user {
      id
      databaseId
      name
      firstName
      lastName
      otpMethod
      version
    }
    customer {
      id
      databaseId
      name
      level
    }
    grants {
      application
      accountId
      roleName
      isOwner
      features
    }
  }
}`),r=e(`mutation UpdateOwnName($input: UpdateUserInput!) {
  updateUser(input: $input) {
    user {
      id
      name
      firstName
      lastName
      version
    }
  }
}`),i=e(`query Sessions {
  me {
    sessions {
      id
      createdAt
      lastUsedAt
      userAgent
      address
      current
    }
  }
}`),a=e(`mutation RevokeSession($input: RevokeSessionInput!) {
  revokeSession(input: $input) {
    session {
      id
    }
  }
}`),o=e(`mutation RevokeOtherSessions($input: RevokeOtherSessionsInput!) {
  revokeOtherSessions(input: $input) {
    sessions {
      id
    }
  }
}`),s=e(`mutation ChangePassword($input: ChangePasswordInput!) {
  changePassword(input: $input) {
    user {
      id
    }
  }
}`),c=e(`mutation RequestEmailChange($input: RequestEmailChangeInput!) {
  requestEmailChange(input: $input) {
    user {
      id
    }
  }
}`),l=e(`mutation EnableTotp($input: EnableTotpInput!) {
  enableTotp(input: $input) {
    secret
    uri
  }
}`),u=e(`mutation ConfirmTotp($input: ConfirmTotpInput!) {
  confirmTotp(input: $input) {
    user {
      id
      otpMethod
    }
    recoveryCodes
  }
}`),d=e(`mutation DisableTotp($input: DisableTotpInput!) {
  disableTotp(input: $input) {
    user {
      id
      otpMethod
    }
  }
}`),f=e(`mutation RegenerateRecoveryCodes($input: RegenerateRecoveryCodesInput!) {
  regenerateRecoveryCodes(input: $input) {
    recoveryCodes
  }
}`),p=e(`query HasPassword {
  me {
    hasPassword
  }
}`),m=e(`query Passkeys {
  me {
    passkeys {
      id
      name
      backedUp
      createdAt
      lastUsedAt
      version
    }
  }
}`),h=e(`mutation BeginPasskey($input: BeginPasskeyInput!) {
  beginPasskey(input: $input) {
    state
    options
  }
}`),g=e(`mutation CreatePasskey($input: CreatePasskeyInput!) {
  createPasskey(input: $input) {
    passkey {
      id
    }
    recoveryCodes
  }
}`),_=e(`mutation UpdatePasskey($input: UpdatePasskeyInput!) {
  updatePasskey(input: $input) {
    passkey {
      id
      name
      version
    }
  }
}`),v=e(`mutation DeletePasskey($input: DeletePasskeyInput!) {
  deletePasskey(input: $input) {
    deletedId
  }
}`),y=e(`query Places {
  me {
    user {
      id
      customers(first: 200) {
        nodes {
          id
          databaseId
          name
          level
          ancestors {
            id
            customer {
              id
            }
          }
        }
      }
    }
    invitations {
      id
      customer {
        id
        databaseId
        name
      }
      expiresAt
    }
  }
}`),b=e(`mutation AcceptInvitation($input: AcceptInvitationInput!) {
  acceptInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),x=e(`mutation DeclineInvitation($input: DeclineInvitationInput!) {
  declineInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),S=e(`mutation LeaveCompany($input: LeaveCustomerInput!) {
  leaveCustomer(input: $input) {
    deletedId
  }
}`),C=e(`mutation EraseOneself($input: EraseUserInput!) {
  eraseUser(input: $input) {
    deletedId
  }
}`);export{_ as C,r as S,f as _,g as a,a as b,d as c,p as d,S as f,y as g,m as h,u as i,l,n as m,h as n,x as o,t as p,s as r,v as s,b as t,C as u,c as v,i as x,o as y};